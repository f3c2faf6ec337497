use std::error::Error;

use protolink::prelude::*;

#[before_model]
fn hidden(_request: &mut ModelRequest<'_>) -> Result<(), impl Error> { // wrong
    Ok::<(), std::fmt::Error>(())
}

#[before_model]
fn not_send(_request: &mut ModelRequest<'_>) -> Result<(), Box<dyn Error>> { // wrong
    Ok(())
}

#[before_complete]
async fn not_send_async(_response: &mut FinalResponse<'_>) -> Result<(), Box<dyn Error>> { // wrong
    Ok(())
}

#[tool]
fn search(query: String) -> impl serde::Serialize { // wrong
    query
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![hidden, not_send, not_send_async]);
}
