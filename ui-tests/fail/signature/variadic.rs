use protolink::prelude::*;

#[before_model]
unsafe extern "C" fn hook(_request: &mut ModelRequest<'_>, _rest: ...) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
