use protolink::prelude::*;

#[before_model = "first"]
fn hook(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = hook;
}
