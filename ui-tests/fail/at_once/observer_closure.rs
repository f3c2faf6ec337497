use protolink::RunEvent;
use protolink::prelude::*;

fn main() {
    let _ = Agent::builder("a").observer(async |_event: &RunEvent| {});
}
