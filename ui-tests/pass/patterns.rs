#![deny(warnings)]
//! The function is called, not copied, so patterns do not matter.
use protolink::prelude::*;

#[before_model]
fn mutable(mut request: &mut ModelRequest<'_>) {
    let request = &mut request;
    request.history().push(Message::user("x"));
}

#[before_model]
fn nothing(_: &mut ModelRequest<'_>, _: State<u32>) {}

#[before_model]
fn taken_apart(request: &mut ModelRequest<'_>, State(mut count): State<u32>) {
    count += 1;
    request.history().push(Message::user(count.to_string()));
}

#[before_model]
const fn constant(_: &mut ModelRequest<'_>) {}

#[tool]
fn area(mut width: u32, height: u32) -> u32 {
    width *= height;
    width
}

pub(crate) fn main() {
    let _ = Agent::builder("a").state(3_u32).tools(tools![area]).hooks(hooks![mutable, nothing, taken_apart, constant]);
}
