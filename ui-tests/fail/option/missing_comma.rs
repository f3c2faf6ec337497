use protolink::prelude::*;

#[tool]
fn search(query: String) -> String {
    query
}

#[after_tool(tool = search timeout = "2s")]
async fn hook(_observation: &mut ToolObservation<'_>) {}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![hook]);
}
