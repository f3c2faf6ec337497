use std::cell::RefCell;

use protolink::prelude::*;

thread_local! {
    static STASH: RefCell<Option<protolink::HistoryMut<'static>>> = const { RefCell::new(None) };
}

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    STASH.with(|stash| *stash.borrow_mut() = Some(request.history()));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
