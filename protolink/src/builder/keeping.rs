//! What the builder is told of how runs are taken up and seen.

use std::time::Duration;

use super::AgentBuilder;

/// How durable runs are taken up, and what may be seen of them.
impl<S, A> AgentBuilder<S, A> {
    /// How long a worker owns a durable run without a sign of life; half a minute unless said otherwise.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// use std::time::Duration;
    /// # let _ =
    /// Agent::builder("a").durable(MemoryStore::new()).lease(Duration::from_secs(10));
    /// ```
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.settings.lease = lease;
        self
    }

    /// Says that behaviour changed where no fingerprint can see it: in functions that hooks call, in prompts that are
    /// loaded (contract D6).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// let agent = |version| {
    ///     Agent::builder("a").model(ScriptedModel::new([])).execution_version(version).build()
    /// };
    /// assert_ne!(agent("1")?.fingerprint(), agent("2")?.fingerprint());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn execution_version(mut self, version: impl Into<String>) -> Self {
        self.settings.execution_version = version.into();
        self
    }

    /// Whether events carry the contents of messages and results, and not their digests only (contract T3).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use protolink::{Captured, Change};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a")
    ///     .model(ScriptedModel::new([Reply::text("done")]))
    ///     .before_model("greet", |request: &mut ModelRequest<'_>| {
    ///         request.history().append_system("Say hello.")
    ///     })
    ///     .capture_content(true)
    ///     .build()?;
    /// let mut stream = agent.run("Go.").stream();
    /// while let Some(event) = stream.next().await {
    ///     if let RunEvent::HookRan { changes, .. } = event? {
    ///         let [Change::SystemAppended { text: Captured::Content(text), .. }] = &changes[..]
    ///         else {
    ///             panic!("digests")
    ///         };
    ///         assert_eq!(text, "Say hello.");
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn capture_content(mut self, capture: bool) -> Self {
        self.settings.capture_content = capture;
        self
    }

    /// Whether every hook runs twice on equal inputs and must do the same both times, for tests and debug builds.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// static CALLS: AtomicU32 = AtomicU32::new(0);
    ///
    /// #[before_model]
    /// fn count(request: &mut ModelRequest<'_>) {
    ///     let calls = CALLS.fetch_add(1, Ordering::Relaxed); // differs at every call
    ///     request.history().append_system(format!("Call {calls}."));
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text("done")]);
    /// let agent = Agent::builder("a")
    ///     .model(model)
    ///     .hooks(hooks![count])
    ///     .strict(cfg!(debug_assertions))
    ///     .build()?;
    /// assert!(matches!(agent.invoke("Go.").await, Err(Error::NotRepeatable { .. })));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.settings.strict = strict;
        self
    }
}
