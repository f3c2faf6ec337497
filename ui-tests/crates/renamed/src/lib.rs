//! The library under another name, and through another crate.

use pl::{AgentBuilder, FinalResponse, FromRef, ModelRequest, State, ToolObservation, hooks, tools};

mod nested {
    pub(crate) use pl as agents;
}

/// By the name of the dependency.
#[pl::before_model(crate = pl)]
pub fn by_name(request: &mut ModelRequest<'_>) {
    request.history().set_system("x");
}

/// By an absolute path.
#[pl::before_model(crate = ::pl)]
pub fn by_absolute_path(_request: &mut ModelRequest<'_>, _state: State<NoPart>) {}

/// By a path through this crate.
#[pl::before_complete(crate = crate::nested::agents)]
pub async fn by_crate_path(response: &mut FinalResponse<'_>) {
    response.set_text("x");
}

/// Through another crate.
#[pl::after_tool(crate = ::reexport::agents, tool = search)]
pub async fn through_another(observation: &mut ToolObservation<'_, String>) {
    observation.result_mut().truncate(1);
}

/// A tool.
#[pl::tool(crate = pl, capability = "web")]
pub async fn search(query: String, #[default(1)] limit: u32) -> String {
    format!("{query}{limit}")
}

/// A module of hooks.
#[pl::hook_module(crate = pl)]
pub mod rules {
    use pl::ModelRequest;

    /// A hook.
    #[pl::before_model(crate = pl)]
    pub fn in_module(_request: &mut ModelRequest<'_>) {}
}

reexport::silent_hook!(by_macro);

/// A part of a state.
#[derive(Debug, Clone)]
pub struct NoPart;

/// A state.
#[derive(Debug, FromRef)]
#[from_ref(crate = pl)]
pub struct Whole {
    part: NoPart,
}

/// The hooks.
#[must_use]
pub fn hooks(builder: AgentBuilder) -> AgentBuilder {
    builder.hooks(hooks![by_name, by_crate_path, through_another, by_macro]).hooks(rules::hooks)
}

/// The hooks that take a part of the state.
#[must_use]
pub fn hooks_with_state(builder: AgentBuilder<Whole>) -> AgentBuilder<Whole> {
    builder.hooks(hooks![by_absolute_path])
}

/// The tools.
#[must_use]
pub fn tools(builder: AgentBuilder) -> AgentBuilder {
    builder.tools(tools![search])
}
