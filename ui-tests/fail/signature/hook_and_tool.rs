use protolink::prelude::*;

#[tool]
#[before_model]
fn both(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![both]);
}
