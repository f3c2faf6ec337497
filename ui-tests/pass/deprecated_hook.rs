//! A deprecated hook is warned about where it is registered, and nowhere else.
#![deny(deprecated)]
use protolink::prelude::*;

#[deprecated(note = "use `new`")]
#[before_model]
fn old(_request: &mut ModelRequest<'_>) {}

#[deprecated(note = "use `find`")]
#[tool]
fn search(query: String) -> String {
    query
}

#[allow(deprecated, reason = "it is what this is about")]
fn register() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![old]);
}

pub(crate) fn main() {
    register();
}
