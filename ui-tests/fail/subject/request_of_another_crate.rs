use protolink::prelude::*;

mod other {
    pub struct ModelRequest<'r>(pub &'r str);
}

use other::ModelRequest;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
