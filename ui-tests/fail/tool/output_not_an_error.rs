use protolink::prelude::*;

struct Oops;

#[tool]
fn search(_query: String) -> Result<String, Oops> {
    Err(Oops)
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
