use protolink::prelude::*;

fn replace(request: &mut ModelRequest<'_>, other: ModelRequest<'static>) {
    let _ = std::mem::replace(request, other);
}

fn main() {
    let _ = replace;
}
