use protolink::prelude::*;

#[tool]
fn search(query: &str) -> String {
    query.to_owned()
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
