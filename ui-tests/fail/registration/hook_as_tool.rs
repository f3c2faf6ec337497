use protolink::prelude::*;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").tools(tools![hook]);
}
