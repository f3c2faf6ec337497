use protolink::hooks_fingerprint;
use protolink::prelude::*;

#[allow(dead_code)]
struct NotAHook {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![NotAHook]); // wrong
    let _ = hooks_fingerprint![NotAHook]; // wrong
}
