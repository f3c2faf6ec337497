#![deny(warnings)]
//! A hook's type is no pattern: a variable may have its name.
use protolink::prelude::*;

#[before_model]
fn fruits(request: &mut ModelRequest<'_>) {
    request.history().push(Message::user("x"));
}

pub(crate) fn main() {
    let _ = Agent::builder("a").hooks(hooks![fruits]);
    let fruits = 3;
    assert_eq!(fruits, 3);
}
