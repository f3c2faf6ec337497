use protolink::prelude::*;

#[before_model]
fn core(_request: &mut ModelRequest<'_>) {}

fn main() {}
