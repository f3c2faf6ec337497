#![deny(warnings)]
//! What a tool may return.
use protolink::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Hits;

#[derive(Debug, thiserror::Error)]
#[error("own")]
struct Own;

#[tool]
fn nothing() {}

#[tool]
fn unit() -> () {}

#[tool]
fn plain() -> Hits {
    Hits
}

#[tool]
async fn option() -> Option<u32> {
    None
}

#[tool]
async fn json() -> serde_json::Value {
    serde_json::Value::Null
}

#[tool]
fn own_error() -> Result<Hits, Own> {
    Err(Own)
}

#[tool]
fn tool_error() -> Result<(), ToolError> {
    Err(ToolError::rejected("no"))
}

#[tool]
async fn question_mark() -> Result<String, ToolError> {
    Ok(std::str::from_utf8(b"x")?.to_owned())
}

#[tool]
fn text_error() -> Result<(), String> {
    Ok(())
}

#[tool]
fn boxed_error() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Ok(())
}

#[tool]
fn infallible() -> Result<u32, std::convert::Infallible> {
    Ok(1)
}

#[after_tool(tool = plain)]
fn after_plain(_observation: &mut ToolObservation<'_, Hits>) {}

#[after_tool(tool = nothing)]
fn after_nothing(_observation: &mut ToolObservation<'_, ()>) {}

#[after_tool(tool = option)]
fn after_option(_observation: &mut ToolObservation<'_, Option<u32>>) {}

pub(crate) fn main() {
    let _ = Agent::builder("a")
        .tools(tools![
            nothing,
            unit,
            plain,
            option,
            json,
            own_error,
            tool_error,
            question_mark,
            text_error,
            boxed_error,
            infallible
        ])
        .hooks(hooks![after_plain, after_nothing, after_option]);
}
