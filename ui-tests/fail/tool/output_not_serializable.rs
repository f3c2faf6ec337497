use protolink::prelude::*;

struct Hits;

#[tool]
fn search(_query: String) -> Hits {
    Hits
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
