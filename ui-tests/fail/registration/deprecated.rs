#![deny(deprecated)]

use protolink::prelude::*;

#[deprecated(note = "use `select`")]
#[before_model]
fn old(_request: &mut ModelRequest<'_>) {}

#[deprecated(note = "use `find`")]
#[tool]
fn search(query: String) -> String {
    query
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![old]); // wrong
    let _ = Agent::builder("a").tools(tools![search]); // wrong
}
