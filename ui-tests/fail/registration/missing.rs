use protolink::prelude::*;

fn main() {
    let _ = Agent::builder("a").hooks(hooks![missing]);
}
