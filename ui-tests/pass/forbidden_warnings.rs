#![forbid(warnings, unsafe_code, clippy::all)]
//! No `allow` stands in generated code, which this would refuse.
use protolink::prelude::*;

#[before_model]
fn one(request: &mut ModelRequest<'_>) {
    request.history().set_system("x");
}

#[before_complete]
async fn two(response: &mut FinalResponse<'_>, State(n): State<u32>) {
    response.set_text(n.to_string());
}

#[tool]
fn search(query: String) -> String {
    query
}

#[after_tool(tool = search)]
fn three(observation: &mut ToolObservation<'_, String>) {
    observation.result_mut().clear();
}

pub(crate) fn main() {
    let _ = Agent::builder("a").state(1_u32).tools(tools![search]).hooks(hooks![one, two, three]);
}
