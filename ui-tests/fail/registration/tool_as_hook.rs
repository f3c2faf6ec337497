use protolink::prelude::*;

#[tool]
fn search(query: String) -> String {
    query
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![search]);
}
