//! The macros in edition 2015.

#![deny(warnings)]

extern crate protolink;

use protolink::{hooks, AgentBuilder, FinalResponse, ModelRequest, ToolObservation};

/// A hook.
#[protolink::before_model]
pub fn edit(request: &mut ModelRequest) {
    request.history().set_system("x");
}

/// A tool.
#[protolink::tool]
pub fn search(query: String) -> String {
    query
}

/// A hook for the tool.
#[protolink::after_tool(tool = search)]
pub fn cut(observation: &mut ToolObservation<'_, String>) {
    observation.result_mut().truncate(1);
}

/// A check.
#[protolink::before_complete]
pub fn check(response: &mut FinalResponse) {
    response.set_text("x");
}

/// All of them.
#[must_use]
pub fn hooks(builder: AgentBuilder) -> AgentBuilder {
    builder.hooks(hooks![edit, cut, check])
}
