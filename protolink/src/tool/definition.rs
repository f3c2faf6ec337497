//! A tool as the builder takes it, and as the loop calls it.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::error::ToolFailure;
use super::output::ToolValue;
use super::schema;
use super::spec::ToolSpec;
use crate::hook::BoxFuture;
use crate::ids::ActionId;
use crate::run_context::RunContext;

/// A function with `#[tool]`, as a type of the function's own name.
///
/// ```
/// use protolink::Tool;
/// use protolink::prelude::*;
///
/// /// Search the catalogue.
/// #[tool]
/// fn search(query: String) -> Vec<String> {
///     vec![query]
/// }
///
/// assert_eq!(search::NAME, "search");
/// let hits: <search as Tool>::Output = Vec::new();
/// # let _: Vec<String> = hits;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "annotate the function with `#[tool]`, and name that function here"
)]
pub trait Tool: 'static {
    /// The name by which the model calls it.
    const NAME: &'static str;
    /// What it gives back when it succeeds.
    type Output: ToolValue;
}

/// A tool that an agent with the state `S` can run.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::{AgentBuilder, ToolFor};
///
/// /// Search the catalogue.
/// #[tool]
/// fn search(query: String) -> Vec<String> {
///     vec![query]
/// }
///
/// /// Adds one tool, and the limit that goes with it.
/// fn with_limit<S: Send + Sync + 'static, T: ToolFor<S>>(
///     builder: AgentBuilder<S>,
/// ) -> AgentBuilder<S> {
///     builder.tool::<T>().budget(Budget::new().max_tool_calls(3))
/// }
/// # let _ =
/// with_limit::<_, search>(Agent::builder("a"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool of an agent whose state is `{S}`",
    label = "not a tool here",
    note = "annotate the function with `#[tool]`; a tool made at run time goes to `.dyn_tool(..)`"
)]
pub trait ToolFor<S>: Tool {
    /// What the builder keeps of it.
    #[doc(hidden)]
    fn definition() -> ToolDefinition<S>;
}

/// What a failing tool does to its run.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
/// use protolink::{DynTool, OnError};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let shop = DynTool::new("search", "Search the shop.", json!({ "type": "object" }), |_, _| async {
///     Err::<String, _>("the shop is closed")
/// });
/// let model = ScriptedModel::new([Reply::call("search", json!({})), Reply::text("The shop is closed.")]);
/// let agent = Agent::builder("a").model(model).dyn_tool(shop.on_error(OnError::Report)).build()?;
/// assert_eq!(agent.invoke("Which lamps?").await?.text(), "The shop is closed.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// The run fails with the tool's error.
    #[default]
    Fail,
    /// The model is told the error's text, and the run goes on.
    Report,
}

/// One call, as a tool gets it.
#[doc(hidden)]
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolInput {
    /// The arguments; an object, unless the model sent something else.
    pub arguments: Value,
    /// Facts about the call.
    pub context: ToolContext,
}

/// Facts about one tool call; a parameter that a tool can take.
///
/// ```
/// use protolink::prelude::*;
///
/// /// Charge a card.
/// #[tool(capability = "money", idempotent)]
/// async fn charge(cents: u64, context: ToolContext) -> Result<String, ToolError> {
///     // The same key after a crash and a resume, so that the bank charges once.
///     Ok(format!("charged {cents} under {}", context.action_id()))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct ToolContext {
    pub(crate) action_id: ActionId,
    pub(crate) call_id: String,
    pub(crate) step: u32,
    pub(crate) run: Arc<RunContext>,
    pub(crate) cancellation: CancellationToken,
}

impl ToolContext {
    /// Names this action for good: the same after a resume. Use it as the key that makes an effect idempotent.
    #[must_use]
    pub fn action_id(&self) -> &ActionId {
        &self.action_id
    }

    /// The provider's identifier of the call.
    #[must_use]
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The step, counted from 1.
    #[must_use]
    pub fn step(&self) -> u32 {
        self.step
    }

    /// Facts about the run, detached from it.
    #[must_use]
    pub fn run(&self) -> &RunContext {
        &self.run
    }

    /// Whether the run was cancelled, for a tool that can stop half-way.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Waits until the run is cancelled.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// /// Wait for a parcel.
    /// #[tool]
    /// async fn wait(context: ToolContext) -> Result<String, ToolError> {
    ///     tokio::select! {
    ///         () = context.cancelled() => Err(ToolError::rejected("nobody waits any more")),
    ///         parcel = async { "a lamp" } => Ok(parcel.to_owned()),
    ///     }
    /// }
    /// ```
    pub async fn cancelled(&self) {
        self.cancellation.cancelled().await;
    }
}

pub(crate) type ToolFn<S> = for<'a> fn(ToolInput, &'a S) -> BoxFuture<'a, Result<Value, ToolFailure>>;

/// A tool as the builder keeps it.
#[doc(hidden)]
pub struct ToolDefinition<S> {
    pub(crate) spec: ToolSpec,
    pub(crate) output_schema: Option<Value>,
    pub(crate) on_error: OnError,
    check: Option<CheckFn>,
    call: ToolFn<S>,
}

/// Says whether arguments fit, without running anything.
pub(crate) type CheckFn = fn(&Value) -> Result<(), String>;

impl<S> ToolDefinition<S> {
    #[doc(hidden)]
    #[must_use]
    pub fn new(name: &str, description: &str, schema: Value, call: ToolFn<S>) -> Self {
        let spec = ToolSpec::new(name.to_owned(), description.to_owned(), schema, Vec::new(), false);
        Self { spec, output_schema: None, on_error: OnError::Fail, check: None, call }
    }

    #[doc(hidden)]
    #[must_use]
    pub fn options(mut self, capabilities: &[&str], idempotent: bool, on_error: OnError) -> Self {
        let capabilities = capabilities.iter().map(|&capability| capability.to_owned()).collect();
        self.spec = self.spec.with_options(capabilities, idempotent);
        self.on_error = on_error;
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn checked_by(mut self, check: CheckFn) -> Self {
        self.check = Some(check);
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn gives(mut self, output_schema: Option<Value>) -> Self {
        self.output_schema = output_schema;
        self
    }
}

impl<S> fmt::Debug for ToolDefinition<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolDefinition").field("spec", &self.spec).finish_non_exhaustive()
    }
}

/// A tool whose state is bound to it: the loop does not know the state's type.
pub(crate) trait ToolRuns: Send + Sync {
    fn call(&self, input: ToolInput) -> BoxFuture<'_, Result<Value, ToolFailure>>;
}

struct WithState<S> {
    call: ToolFn<S>,
    state: Arc<S>,
}

impl<S: Send + Sync> ToolRuns for WithState<S> {
    fn call(&self, input: ToolInput) -> BoxFuture<'_, Result<Value, ToolFailure>> {
        (self.call)(input, &self.state)
    }
}

/// A tool of an agent, ready to run.
pub(crate) struct BoundTool {
    pub(crate) spec: Arc<ToolSpec>,
    pub(crate) output_schema: Option<Value>,
    pub(crate) on_error: OnError,
    pub(crate) check: Option<CheckFn>,
    pub(crate) code: ToolCode,
}

/// What runs when a tool is called.
pub(crate) enum ToolCode {
    /// The application's code.
    Application(Box<dyn ToolRuns>),
    /// The loop answers by itself.
    BuiltIn,
}

impl BoundTool {
    pub(crate) fn new<S: Send + Sync + 'static>(definition: ToolDefinition<S>, state: Arc<S>) -> Self {
        let ToolDefinition { spec, output_schema, on_error, check, call } = definition;
        let code = ToolCode::Application(Box::new(WithState { call, state }));
        Self { spec: Arc::new(spec), output_schema, on_error, check, code }
    }

    pub(crate) fn built_in(spec: ToolSpec) -> Self {
        Self {
            spec: Arc::new(spec),
            output_schema: None,
            on_error: OnError::Fail,
            check: None,
            code: ToolCode::BuiltIn,
        }
    }

    /// Says whether arguments fit, without running anything: by the type that they become, or by the schema of a tool
    /// that is made at run time.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), String> {
        match self.check {
            Some(check) => check(arguments),
            None if self.is_built_in() => Ok(()),
            None => schema::check(self.spec.schema(), arguments),
        }
    }

    pub(crate) fn is_built_in(&self) -> bool {
        matches!(self.code, ToolCode::BuiltIn)
    }
}
