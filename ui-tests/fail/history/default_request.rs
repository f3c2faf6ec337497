use protolink::prelude::*;

fn main() {
    let _ = ModelRequest::default();
}
