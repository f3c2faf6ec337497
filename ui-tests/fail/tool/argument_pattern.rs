use protolink::prelude::*;

#[tool]
fn area((width, height): (u32, u32)) -> u32 {
    width * height
}

fn main() {
    let _ = Agent::builder("a").tools(tools![area]);
}
