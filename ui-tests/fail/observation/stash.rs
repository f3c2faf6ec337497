use std::sync::Mutex;

use protolink::prelude::*;

static STASH: Mutex<Option<&'static mut ToolObservation<'static>>> = Mutex::new(None);

#[after_tool]
fn hook(observation: &mut ToolObservation<'_>) {
    if let Ok(mut stash) = STASH.lock() {
        *stash = Some(observation);
    }
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
