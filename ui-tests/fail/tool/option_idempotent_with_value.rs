use protolink::prelude::*;

#[tool(idempotent = true)]
fn search(query: String) -> String {
    query
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
