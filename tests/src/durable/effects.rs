//! Effects that a test can count, kept where no store keeps anything.

use std::sync::{Arc, Mutex, PoisonError};

use protolink::{ActionId, DynTool, ToolError};
use serde_json::{Value, json};

/// The effects that tools had, in their order; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Effects(Arc<Mutex<Vec<(String, ActionId)>>>);

impl Effects {
    /// No effects yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Has the effect of the tool `tool` under this action.
    pub fn happen(&self, tool: &str, action: &ActionId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((tool.to_owned(), action.clone()));
    }

    /// How often the tool had its effect.
    #[must_use]
    pub fn count(&self, tool: &str) -> usize {
        self.all().iter().filter(|(name, _)| name == tool).count()
    }

    /// Every effect: the tool, and the action.
    #[must_use]
    pub fn all(&self) -> Vec<(String, ActionId)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A tool that has its effect and gives back `{"done": <how many effects there were then>}`.
    #[must_use]
    pub fn tool(&self, name: &'static str) -> DynTool {
        let effects = self.clone();
        self.tool_that(name, move |_| {
            let done = effects.all().len();
            async move { Ok(json!({ "done": done })) }
        })
    }

    /// A tool that has its effect, and ends as `then` says.
    pub fn tool_that<F, Fut>(&self, name: &'static str, then: F) -> DynTool
    where
        F: Fn(Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        let effects = self.clone();
        DynTool::new(name, "Has an effect.", json!({ "type": "object" }), move |arguments, context| {
            effects.happen(name, context.action_id());
            then(arguments)
        })
    }
}
