use protolink::prelude::*;

#[tool]
fn größe() -> u32 {
    1
}

fn main() {
    let _ = Agent::builder("a").tools(tools![größe]);
}
