use protolink::prelude::*;

struct Filter;

#[tool]
fn search(_filter: Filter) {}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
