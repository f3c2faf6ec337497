#![deny(warnings)]
//! One hook of each kind.
use protolink::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Hits {
    debug: Option<String>,
}

#[tool]
async fn search(query: String) -> Result<Hits, std::io::Error> {
    Ok(Hits { debug: Some(query) })
}

#[before_model]
fn sync_before_model(request: &mut ModelRequest<'_>) {
    request.history().push(Message::user("x"));
}

#[before_model]
async fn async_before_model(request: &mut ModelRequest<'_>) -> Result<(), std::fmt::Error> {
    request.history().push(Message::user("x"));
    Ok(())
}

#[after_tool]
fn sync_after_tool(observation: &mut ToolObservation<'_>) {
    observation.result_mut()["seen"] = true.into();
}

#[after_tool]
async fn async_after_tool(observation: &mut ToolObservation<'_>) -> Result<(), String> {
    observation.result_mut()["seen"] = true.into();
    Ok(())
}

#[after_tool(tool = search)]
fn sync_for_tool(observation: &mut ToolObservation<'_, Hits>) {
    observation.result_mut().debug = None;
}

#[after_tool(tool = search)]
async fn async_for_tool(observation: &mut ToolObservation<'_, Hits>) -> Result<(), String> {
    match &observation.result().debug {
        Some(_) => Err("debug".to_owned()),
        None => Ok(()),
    }
}

#[before_complete]
fn sync_before_complete(response: &mut FinalResponse<'_>) {
    response.set_text("done");
}

#[before_complete]
async fn async_before_complete(response: &mut FinalResponse<'_>) -> Result<(), &'static str> {
    if response.text().is_none() { Err("no text") } else { Ok(()) }
}

pub(crate) fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![
        sync_before_model,
        async_before_model,
        sync_after_tool,
        async_after_tool,
        sync_for_tool,
        async_for_tool,
        sync_before_complete,
        async_before_complete,
    ]);
}
