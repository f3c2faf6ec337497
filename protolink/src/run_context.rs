//! What a hook or a tool may know of the run around it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::RunId;

/// A detached copy of facts about a run: plain data, with no way back to anything live (contract M11).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// #[before_model]
/// fn greet(request: &mut ModelRequest<'_>) {
///     let context = request.context();
///     assert_eq!(
///         (context.run_id().as_str(), context.agent(), context.session()),
///         ("r-1", "helper", None)
///     );
///     if let Some(user) = context.get("user").and_then(|user| user.as_str()) {
///         request.history().append_system(format!("The user is {user}."));
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::text("Hello, Ada.")]);
/// let agent = Agent::builder("helper").model(model).hooks(hooks![greet]).build()?;
/// agent.run("Hi!").run_id("r-1").context("user", "Ada").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunContext {
    /// The run.
    pub run_id: RunId,
    /// The agent's name.
    pub agent: String,
    /// The conversation that the run belongs to, where it has a name.
    pub session: Option<String>,
    /// What the application gave the run by [`RunBuilder::context`](crate::RunBuilder::context).
    pub metadata: BTreeMap<String, Value>,
    /// Labels that the application gave the run, for finding it again in a store.
    pub labels: BTreeMap<String, String>,
}

impl RunContext {
    pub(crate) fn new(run_id: RunId, agent: impl Into<String>) -> Self {
        Self { run_id, agent: agent.into(), session: None, metadata: BTreeMap::new(), labels: BTreeMap::new() }
    }

    /// The run.
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// The agent's name.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The name of the conversation, where it has one.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The value that the application gave the run under `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }
}
