use protolink::prelude::*;

#[tool]
fn greeting() -> &'static str {
    "hello"
}

fn main() {
    let _ = Agent::builder("a").tools(tools![greeting]);
}
