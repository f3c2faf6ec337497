use protolink::prelude::*;

#[tool]
fn search(query: String) -> Vec<String> {
    vec![query]
}

#[after_tool(tool = search)]
fn request(_request: &mut ModelRequest<'_>) {} // wrong

#[after_tool(tool = search)]
async fn response(_response: &mut FinalResponse<'_>) {} // wrong

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![request, response]);
}
