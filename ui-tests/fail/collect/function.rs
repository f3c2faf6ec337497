use protolink::prelude::*;

#[hook_module]
fn rules() {}

fn main() {
    rules();
}
