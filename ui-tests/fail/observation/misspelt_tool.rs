use protolink::prelude::*;

#[tool]
fn search(query: String) -> String {
    query
}

#[after_tool(tool = serach)]
fn hook(_observation: &mut ToolObservation<'_, String>) {}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![hook]);
}
