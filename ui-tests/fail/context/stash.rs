use std::sync::Mutex;

use protolink::prelude::*;

static STASH: Mutex<Option<&'static protolink::RunContext>> = Mutex::new(None);

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    if let Ok(mut stash) = STASH.lock() {
        *stash = Some(request.context());
    }
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
