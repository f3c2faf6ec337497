use std::any::Any;

use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let _: &mut dyn Any = request;
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
