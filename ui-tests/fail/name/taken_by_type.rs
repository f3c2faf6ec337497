use protolink::prelude::*;

struct normalize;

#[before_model]
fn normalize(_request: &mut ModelRequest<'_>) {}

fn main() {}
