use protolink::prelude::*;

#[before_model]
fn hook(_request: &ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
