use protolink::prelude::*;

#[tool(capability = "")]
fn search(query: String) -> String {
    query
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
