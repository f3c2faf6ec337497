//! Tools that are made at run time: from a configuration, a plugin, an MCP server.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::definition::{BoundTool, OnError, ToolCode, ToolContext, ToolInput, ToolRuns};
use super::error::{IntoToolFailure, ToolFailure};
use super::spec::ToolSpec;
use crate::hook::BoxFuture;
use crate::value::to_value_of;

/// A tool whose name, schema and code are known at run time only.
///
/// Everything that holds for a tool of `#[tool]` holds for it: filtering, policy, budget, receipts, resume.
///
/// ```
/// use protolink::DynTool;
/// use protolink::prelude::*;
/// use serde_json::json;
///
/// let echo = DynTool::new(
///     "echo",
///     "Say it again.",
///     json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] }),
///     |arguments, _context| async move { Ok::<_, ToolError>(arguments["text"].clone()) },
/// )
/// .capability("speech");
/// # let _ = Agent::builder("a").dyn_tool(echo);
/// ```
#[derive(Clone)]
pub struct DynTool {
    spec: ToolSpec,
    output_schema: Option<Value>,
    on_error: OnError,
    run: Arc<dyn ToolRuns>,
}

impl DynTool {
    /// A tool of this name, description, JSON Schema of its arguments, and code.
    ///
    /// Arguments that cannot fit the schema are refused before the policy or a person is asked, and the model is told
    /// why (contract T6). Read for that are `type`, `enum` and `const` of plain values but numbers, `required`, `properties`,
    /// `additionalProperties: false` and `items`; the code checks what other keywords say, and everything below a
    /// `$ref`. What the code gives back is stored exactly or refused, as for any other tool (contract T7).
    #[must_use]
    pub fn new<F, Fut, O, E>(name: impl Into<String>, description: impl Into<String>, schema: Value, run: F) -> Self
    where
        F: Fn(Value, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, E>> + Send + 'static,
        O: Serialize + 'static,
        E: IntoToolFailure + 'static,
    {
        let spec = ToolSpec::new(name.into(), description.into(), schema, Vec::new(), false);
        Self { spec, output_schema: None, on_error: OnError::Fail, run: Arc::new(Closure(run)) }
    }

    /// Adds a capability, which the policy is asked about before the tool runs.
    #[must_use]
    pub fn capability(mut self, capability: impl Into<String>) -> Self {
        let mut capabilities = self.spec.capabilities().to_vec();
        capabilities.push(capability.into());
        let idempotent = self.spec.is_idempotent();
        self.spec = self.spec.with_options(capabilities, idempotent);
        self
    }

    /// Declares that running it twice with one action id does what running it once does (contract D3).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use serde_json::json;
    /// # let tool = protolink::DynTool::new("noon", "Tell the time.", json!({ "type": "object" }), |_, _| async { Ok::<_, ToolError>("noon") });
    /// let tool = tool.idempotent();
    /// assert!(tool.spec().is_idempotent());
    /// ```
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        let capabilities = self.spec.capabilities().to_vec();
        self.spec = self.spec.with_options(capabilities, true);
        self
    }

    /// What a failure does to the run; it fails, unless said otherwise.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use serde_json::json;
    /// # let tool = protolink::DynTool::new("noon", "Tell the time.", json!({ "type": "object" }), |_, _| async { Ok::<_, ToolError>("noon") });
    /// let tool = tool.on_error(protolink::OnError::Report);
    /// # let _ = tool;
    /// ```
    #[must_use]
    pub fn on_error(mut self, on_error: OnError) -> Self {
        self.on_error = on_error;
        self
    }

    /// The JSON Schema of what it gives back; a part of the contract's fingerprint.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use serde_json::json;
    /// # let tool = protolink::DynTool::new("noon", "Tell the time.", json!({ "type": "object" }), |_, _| async { Ok::<_, ToolError>("noon") });
    /// let tool = tool.output_schema(json!({ "type": "string" }));
    /// # let _ = tool;
    /// ```
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// What the model and the hooks see of it.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    pub(crate) fn bind(self) -> BoundTool {
        let Self { spec, output_schema, on_error, run } = self;
        BoundTool {
            spec: Arc::new(spec),
            output_schema,
            on_error,
            check: None,
            code: ToolCode::Application(Box::new(run)),
        }
    }
}

impl fmt::Debug for DynTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynTool").field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl ToolRuns for Arc<dyn ToolRuns> {
    fn call(&self, input: ToolInput) -> BoxFuture<'_, Result<Value, ToolFailure>> {
        self.as_ref().call(input)
    }
}

struct Closure<F>(F);

impl<F, Fut, O, E> ToolRuns for Closure<F>
where
    F: Fn(Value, ToolContext) -> Fut + Send + Sync,
    Fut: Future<Output = Result<O, E>> + Send + 'static,
    O: Serialize + 'static,
    E: IntoToolFailure + 'static,
{
    fn call(&self, input: ToolInput) -> BoxFuture<'_, Result<Value, ToolFailure>> {
        let future = (self.0)(input.arguments, input.context);
        Box::pin(async move {
            let value = future.await.map_err(IntoToolFailure::into_tool_failure)?;
            Ok(to_value_of(value)?)
        })
    }
}
