use protolink::prelude::*;

#[before_model]
struct Hook;

fn main() {
    let _ = Hook;
}
