use protolink::prelude::*;

#[before_model]
fn str(_request: &mut ModelRequest<'_>) {}

fn main() {}
