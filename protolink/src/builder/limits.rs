//! What the builder is told of limits.

use std::time::Duration;

use super::AgentBuilder;
use crate::rules::{Budget, ContextPolicy, Retry};

/// Limits.
impl<S, A> AgentBuilder<S, A> {
    /// The limits of a run that brings none of its own.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// let agent = Agent::builder("a")
    ///     .model(ScriptedModel::new([]))
    ///     .budget(Budget::new().max_steps(8).max_tokens(50_000))
    ///     .build()?;
    /// assert_eq!(agent.config().budget, Budget::new().max_steps(8).max_tokens(50_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.settings.budget = budget;
        self
    }

    /// How much of a history a request may hold.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # let _ =
    /// Agent::builder("a").context_policy(ContextPolicy::new(100_000).reserve_tokens(8_000));
    /// ```
    #[must_use]
    pub fn context_policy(mut self, policy: ContextPolicy) -> Self {
        self.settings.context_policy = Some(policy);
        self
    }

    /// How often a request is sent again after a transient error.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::transient("busy"), Reply::text("done")]);
    /// let agent = Agent::builder("a").model(model).retry(Retry::never()).build()?;
    /// assert!(matches!(agent.invoke("Go.").await, Err(Error::Model { attempts: 1, .. })));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.settings.retry = retry;
        self
    }

    /// How long one tool call may take; a call that takes longer counts as failed.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use std::time::Duration;
    ///
    /// /// Wait for good.
    /// #[tool]
    /// async fn wait() -> String {
    ///     std::future::pending().await
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a")
    ///     .model(ScriptedModel::new([Reply::call("wait", serde_json::json!({}))]))
    ///     .tools(tools![wait])
    ///     .tool_timeout(Duration::from_millis(1))
    ///     .build()?;
    /// assert!(matches!(agent.invoke("Go.").await, Err(Error::Tool { .. })));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.settings.tool_timeout = Some(timeout);
        self
    }

    /// How many calls of one turn run at the same time; 8 unless said otherwise, and 1 at least.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # let _ =
    /// Agent::builder("a").max_parallel_tools(1); // one after another
    /// ```
    #[must_use]
    pub fn max_parallel_tools(mut self, calls: usize) -> Self {
        self.settings.max_parallel_tools = calls.max(1);
        self
    }

    /// How many refused calls a run takes before it fails; 2 unless said otherwise (contract M9).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::call("no_such_tool", serde_json::json!({}))]);
    /// let agent = Agent::builder("a").model(model).max_tool_corrections(0).build()?;
    /// assert!(matches!(agent.invoke("Go.").await, Err(Error::ToolCorrections { limit: 0, .. })));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn max_tool_corrections(mut self, corrections: u32) -> Self {
        self.settings.max_tool_corrections = corrections;
        self
    }

    /// How often an answer may go back to the model: because a hook asks for a revision, or because it does not fit the
    /// type that was asked for. Unless it is said, a hook may not ask, and an answer that does not fit goes back twice.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// #[before_complete]
    /// fn cite(response: &mut FinalResponse<'_>) {
    ///     if !response.text().unwrap_or_default().contains("[1]") {
    ///         response.ask_revision("Cite your source as [1].");
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text("It is so."), Reply::text("It is so [1].")]);
    /// let agent = Agent::builder("a").model(model).hooks(hooks![cite]).max_revisions(1).build()?;
    /// assert_eq!(agent.invoke("Is it so?").await?.text(), "It is so [1].");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn max_revisions(mut self, revisions: u32) -> Self {
        self.settings.max_revisions = Some(revisions);
        self
    }
}
