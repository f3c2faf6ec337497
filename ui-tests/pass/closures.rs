#![deny(warnings)]
//! Closures and plain functions need no attribute.
use protolink::prelude::*;

fn plain(request: &mut ModelRequest<'_>) {
    request.history().set_system("x");
}

async fn plain_async(response: &mut FinalResponse<'_>) -> Result<(), String> {
    response.set_text("x");
    Ok(())
}

pub(crate) fn main() {
    let suffix = String::from("x");
    let _ = Agent::builder("a")
        .before_model("plain", plain)
        .before_model("capture", move |request: &mut ModelRequest<'_>| request.history().set_system(suffix.as_str()))
        .after_tool("fallible", |_observation: &mut ToolObservation<'_>| Err::<(), _>("no"))
        .before_complete("plain_async", plain_async)
        .before_complete("async_closure", async |response: &mut FinalResponse<'_>| response.set_text("x"))
        // What is still to be written.
        .before_model("todo", |_request: &mut ModelRequest<'_>| todo!())
        .before_model("todo_async", async |_request: &mut ModelRequest<'_>| todo!());
}
