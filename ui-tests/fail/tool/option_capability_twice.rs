use protolink::prelude::*;

#[tool(capability = "web", capability = "web")]
fn search(query: String) -> String {
    query
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
