#![deny(dead_code)]

use protolink::prelude::*;

#[before_model]
fn registered(_request: &mut ModelRequest<'_>) {}

#[before_model]
fn never_registered(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![registered]);
}
