use protolink::prelude::*;

#[tool(description = "Search.")]
fn search(query: String) -> String {
    query
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
