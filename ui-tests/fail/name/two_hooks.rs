use protolink::prelude::*;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) {}

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) {}

fn main() {}
