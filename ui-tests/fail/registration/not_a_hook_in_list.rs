use protolink::prelude::*;

struct NotAHook {}

fn main() {
    let _ = NotAHook {};
    let _ = Agent::builder("a").hooks(hooks![NotAHook]);
}
