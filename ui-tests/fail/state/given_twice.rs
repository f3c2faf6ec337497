use protolink::prelude::*;

fn main() {
    let _ = Agent::builder("a").state(1_u32).state(2_u32);
}
