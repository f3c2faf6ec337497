use protolink::prelude::*;

#[tool]
fn search(query: String) -> String {
    query
}

#[after_tool(tool = search)]
fn hook(_observation: &mut ToolObservation<'_, String>) -> bool {
    true
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![hook]);
}
