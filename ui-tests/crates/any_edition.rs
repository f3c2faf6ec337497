//! The macros, in the edition of the crate that has this module.

use std::sync::Arc;

use protolink::prelude::*;
use protolink::AgentBuilder;

/// A hook.
#[before_model]
pub fn edit(request: &mut ModelRequest<'_>, _n: State<u32>) {
    request.history().set_system("x");
}

/// A hook with a trait object in its state.
#[before_model]
pub fn with_function(_request: &mut ModelRequest<'_>, _f: State<u32>, _g: State<u32>) {}

/// An async hook.
///
/// # Errors
/// Never.
#[before_complete]
pub async fn check(response: &mut FinalResponse<'_>) -> Result<(), String> {
    response.set_text("x");
    Ok(())
}

/// A tool.
#[tool(on_error = "report")]
pub async fn search(query: String, #[default(3)] limit: u32, _n: State<u32>) -> String {
    format!("{}{}", query, limit)
}

/// A hook for the tool.
#[after_tool(tool = search)]
pub async fn cut(observation: &mut ToolObservation<'_, String>) {
    observation.result_mut().truncate(1);
}

/// The state of [`takes_function`].
#[derive(FromRef)]
pub struct Functions {
    function: Arc<dyn Fn() + Send + Sync>,
}

/// A hook whose state is a trait object.
#[before_model]
pub fn takes_function(_request: &mut ModelRequest<'_>, State(function): State<Arc<dyn Fn() + Send + Sync>>) {
    function();
}

/// The hooks.
#[must_use]
pub fn hooks(builder: AgentBuilder<u32>) -> AgentBuilder<u32> {
    builder.hooks(hooks![edit, with_function, check, cut])
}

/// The tools.
#[must_use]
pub fn tools(builder: AgentBuilder<u32>) -> AgentBuilder<u32> {
    builder.tools(tools![search])
}

/// Hooks that are still to be written.
#[must_use]
pub fn unwritten(builder: AgentBuilder<u32>) -> AgentBuilder<u32> {
    builder
        .before_model("sync", |_request: &mut ModelRequest<'_>| todo!())
        .after_tool("block", |_observation: &mut ToolObservation<'_>| todo!())
}
