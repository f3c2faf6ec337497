#![deny(warnings)]
//! Lists may be empty, may end in a comma, and may be given more than once.
use protolink::prelude::*;

#[before_model]
fn one(_request: &mut ModelRequest<'_>) {}

#[before_model()]
fn two(_request: &mut ModelRequest<'_>) {}

#[after_tool(tool = search,)]
fn three(_observation: &mut ToolObservation<'_, String>) {}

#[tool()]
fn search(query: String) -> String {
    query
}

pub(crate) fn main() {
    let _ = Agent::builder("a")
        .tools(tools![])
        .tools(tools![search,])
        .hooks(hooks![])
        .hooks(hooks![one, two,])
        .hook(three {});
}
