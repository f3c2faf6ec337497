use protolink::prelude::*;

#[tool]
fn search(query: String) -> Vec<String> {
    vec![query]
}

#[after_tool(tool = search)]
fn hook(_observation: &mut ToolObservation<'_>) {}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![hook]);
}
