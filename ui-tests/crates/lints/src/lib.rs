#![forbid(
    unsafe_code,
    nonstandard_style,
    missing_docs,
    unreachable_pub,
    unused,
    missing_debug_implementations,
    missing_copy_implementations,
    elided_lifetimes_in_paths,
    unused_qualifications,
    single_use_lifetimes,
    unused_lifetimes,
    non_local_definitions,
    let_underscore_drop,
    rust_2018_idioms,
    future_incompatible,
    unnameable_types,
    redundant_lifetimes,
    unit_bindings,
    variant_size_differences,
    trivial_casts,
    trivial_numeric_casts,
    unused_results,
    unused_import_braces,
    explicit_outlives_requirements,
    absolute_paths_not_starting_with_crate,
    meta_variable_misuse,
    unused_extern_crates,
    unused_macro_rules,
    impl_trait_overcaptures,
    private_bounds,
    private_interfaces
)]
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(clippy::redundant_pub_crate, reason = "`unreachable_pub` asks for the opposite")]
//! No lint has a word about generated code.
use protolink::{
    Agent, AgentBuilder, FinalResponse, FromRef, ModelRequest, State, ToolContext, ToolError, ToolObservation,
    after_tool, before_complete, before_model, hook_module, hooks, tool, tools,
};

/// A part.
#[derive(Clone, Copy, Debug)]
pub struct Db;

/// The state.
#[derive(Clone, Copy, Debug, FromRef)]
pub struct App {
    db: Db,
}

/// Sync.
#[before_model]
pub fn sync_hook(request: &mut ModelRequest<'_>) {
    request.history().set_system("x");
}

/// Async.
///
/// # Errors
/// Never.
#[before_model(timeout = "1s")]
pub async fn async_hook(request: &mut ModelRequest<'_>, State(_db): State<Db>) -> Result<(), String> {
    std::future::ready(()).await;
    if request.step() > 3 {
        return Err("too many steps".to_owned());
    }
    Ok(())
}

#[before_complete]
fn private_hook(response: &mut FinalResponse<'_>, State(_db): State<Db>) -> Result<(), String> {
    if response.text().is_none() {
        return Err("no text".to_owned());
    }
    response.set_text("x");
    Ok(())
}

/// Search.
///
/// # Errors
/// Never.
#[tool(capability = "web")]
pub async fn search(
    /// What for.
    query: String,
    #[default(3)] limit: u32,
    State(_db): State<Db>,
    context: ToolContext,
) -> Result<String, ToolError> {
    std::future::ready(()).await;
    if limit == 0 {
        return Err(ToolError::rejected("the limit is 0"));
    }
    Ok(format!("{query}{limit}{}", context.step()))
}

/// Observes.
#[after_tool(tool = search)]
pub async fn observe(observation: &mut ToolObservation<'_, String>, State(_db): State<Db>) {
    std::future::ready(()).await;
    observation.result_mut().clear();
}

mod inner {
    use protolink::{ModelRequest, before_model};

    #[before_model]
    pub(super) fn scoped(request: &mut ModelRequest<'_>) {
        request.history().set_system("x");
    }
}

/// Rules.
#[hook_module]
pub mod rules {
    use protolink::{ModelRequest, before_model};

    #[before_model]
    fn in_module(request: &mut ModelRequest<'_>) {
        request.history().set_system("x");
    }
}

/// Builds.
#[must_use]
pub fn build() -> AgentBuilder<App> {
    Agent::builder("a")
        .state(App { db: Db })
        .tools(tools![search])
        .hooks(hooks![sync_hook, async_hook, private_hook, observe, inner::scoped])
        .hooks(rules::hooks)
}
