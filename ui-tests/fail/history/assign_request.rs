use protolink::prelude::*;

fn assign(request: &mut ModelRequest<'_>, other: ModelRequest<'static>) {
    *request = other;
}

fn main() {
    let _ = assign;
}
