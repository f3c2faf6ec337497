#![deny(warnings)]
//! A hook is a function, and may call itself.
use protolink::prelude::*;

#[before_model]
fn shorten(request: &mut ModelRequest<'_>) {
    if request.history().len() > 3 {
        request.history().remove(0);
        shorten(request);
    }
}

#[tool]
fn factorial(n: u64) -> u64 {
    if n < 2 { 1 } else { n * factorial(n - 1) }
}

pub(crate) fn main() {
    assert_eq!(factorial(5), 120);
    let _ = Agent::builder("a").tools(tools![factorial]).hooks(hooks![shorten]);
}
