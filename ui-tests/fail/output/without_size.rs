use std::error::Error;

use protolink::prelude::*;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) -> Result<(), dyn Error> { // wrong
    loop {}
}

#[tool]
fn search(_query: String) -> Result<u32, dyn Error> { // wrong
    loop {}
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![hook]);
}
