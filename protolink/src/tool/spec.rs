//! What the model and the hooks see of a tool.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The description of a tool: read-only to hooks, and all that a model is told (contract M4).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::ScriptedModel;
///
/// /// Delete a document for good.
/// #[tool(capability = "documents.delete", idempotent)]
/// fn delete(
///     /// Which one.
///     id: String,
/// ) -> String {
///     id
/// }
///
/// let agent =
///     Agent::builder("a").model(ScriptedModel::new([])).tools(tools![delete]).build()?;
/// let spec = &agent.config().tools[0];
/// assert_eq!(spec.name(), "delete");
/// assert_eq!(spec.description(), "Delete a document for good.");
/// assert_eq!(spec.schema()["properties"]["id"]["description"], "Which one.");
/// assert_eq!(spec.capabilities(), ["documents.delete"]);
/// assert!(spec.is_idempotent());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    name: String,
    description: String,
    schema: Value,
    capabilities: Vec<String>,
    idempotent: bool,
}

impl ToolSpec {
    pub(crate) fn new(
        name: String,
        description: String,
        schema: Value,
        capabilities: Vec<String>,
        idempotent: bool,
    ) -> Self {
        Self { name, description, schema, capabilities, idempotent }
    }

    pub(crate) fn with_options(mut self, capabilities: Vec<String>, idempotent: bool) -> Self {
        self.capabilities = capabilities;
        self.idempotent = idempotent;
        self
    }

    /// The name by which the model calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the model is told about it.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of its arguments.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// What the policy is asked about before it runs.
    #[must_use]
    pub fn capabilities(&self) -> &[String] {
        &self.capabilities
    }

    /// Whether running it twice with one action id does what running it once does.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.idempotent
    }
}

/// Whether providers take this as a tool's name: `^[a-zA-Z0-9_-]{1,64}$`.
pub(crate) fn is_valid_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
