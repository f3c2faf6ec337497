use protolink::prelude::*;

struct NotAHook {}

fn main() {
    let _ = Agent::builder("a").hook(NotAHook {});
}
