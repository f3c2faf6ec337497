use std::sync::Mutex;

use protolink::prelude::*;

static STASH: Mutex<Option<&'static mut FinalResponse<'static>>> = Mutex::new(None);

#[before_complete]
fn hook(response: &mut FinalResponse<'_>) {
    if let Ok(mut stash) = STASH.lock() {
        *stash = Some(response);
    }
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
