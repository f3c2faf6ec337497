use protolink::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Filter {
    color: String,
}

#[tool]
fn search(filter: Filter) -> String {
    filter.color
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
