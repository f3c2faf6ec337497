use std::borrow::Cow;

use protolink::prelude::*;

#[before_model]
fn elided(_request: &mut ModelRequest<'_>) -> &str { // wrong
    "x"
}

#[before_model]
async fn elided_async(_request: &mut ModelRequest<'_>) -> Result<(), &str> { // wrong
    Ok(())
}

#[before_complete]
fn elided_in_a_type(_response: &mut FinalResponse<'_>) -> Cow<'_, str> { // wrong
    "x".into()
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![elided, elided_async, elided_in_a_type]);
}
