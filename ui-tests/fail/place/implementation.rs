use protolink::prelude::*;

struct Rules;

#[before_complete]
impl Rules {}

fn main() {
    let _ = Rules;
}
