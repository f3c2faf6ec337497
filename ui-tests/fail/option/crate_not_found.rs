use protolink::prelude::*;

#[before_model(crate = ::agents)]
fn hook(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
