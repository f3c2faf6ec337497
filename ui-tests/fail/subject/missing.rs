use protolink::prelude::*;

#[before_model]
fn hook() {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
