#![no_implicit_prelude]
#![deny(warnings)]
//! The generated code needs no name of the prelude.
use ::protolink::{
    Agent, FinalResponse, FromRef, ModelRequest, State, ToolObservation, after_tool, before_complete, before_model,
    hook_module, hooks, tool, tools,
};

#[before_model]
fn sync_hook(_request: &mut ModelRequest<'_>) {}

#[before_model(timeout = "2s")]
async fn async_hook(
    _request: &mut ModelRequest<'_>,
    _state: State<u8>,
) -> ::core::result::Result<(), ::std::string::String> {
    ::core::result::Result::Ok(())
}

#[tool(capability = "web", idempotent, on_error = "report")]
async fn search(query: u8, #[default(3)] limit: u8, _state: State<u8>) -> u8 {
    query + limit
}

#[tool]
fn nothing() {}

#[after_tool(tool = search)]
async fn observe(_observation: &mut ToolObservation<'_, u8>) {}

#[after_tool(tool = search)]
fn observe_sync(_observation: &mut ToolObservation<'_, u8>) {}

#[before_complete]
fn check(_response: &mut FinalResponse<'_>) {}

#[hook_module]
mod rules {
    use ::protolink::{ModelRequest, before_model};

    #[before_model]
    pub(super) fn in_module(_request: &mut ModelRequest<'_>) {}
}

#[derive(FromRef)]
struct App {
    small: u8,
}

pub(crate) fn main() {
    let _ = Agent::builder("a")
        .state(App { small: 1 })
        .tools(tools![search, nothing])
        .hooks(hooks![sync_hook, async_hook, observe, observe_sync, check])
        .hooks(rules::hooks);
}
