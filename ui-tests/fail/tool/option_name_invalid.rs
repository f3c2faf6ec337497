use protolink::prelude::*;

#[tool(name = "web search")]
fn search(query: String) -> String {
    query
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
