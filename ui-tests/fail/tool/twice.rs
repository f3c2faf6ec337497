use protolink::prelude::*;

#[tool]
#[tool]
fn search(query: String) -> String {
    query
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
