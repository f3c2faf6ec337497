use protolink::prelude::*;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>, _x: impl Send) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
