use std::sync::{Arc, Mutex};

use protolink::prelude::*;

#[derive(Clone)]
struct Slot<'s>(Arc<Mutex<Option<&'s mut ModelRequest<'s>>>>);

#[derive(FromRef)]
struct App {
    slot: Slot<'static>,
}

#[before_model]
fn hook(request: &mut ModelRequest<'_>, State(slot): State<Slot<'static>>) {
    if let Ok(mut slot) = slot.0.lock() {
        *slot = Some(request);
    }
}

fn main() {
    let _ = Agent::builder("a").state(App { slot: Slot(Arc::default()) }).hooks(hooks![hook]);
}
