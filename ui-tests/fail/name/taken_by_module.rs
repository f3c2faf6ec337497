use protolink::prelude::*;

#[before_model]
fn normalize(_request: &mut ModelRequest<'_>) {}

mod normalize {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![normalize]);
}
