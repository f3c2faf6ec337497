//! A run before it starts.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::handle::RunHandle;
use super::place::HistoryPlace;
use super::start::{Start, run_prompt};
use super::stream::RunStream;
use crate::error::Error;
use crate::event::RunEvent;
use crate::hook::BoxFuture;
use crate::ids::RunId;
use crate::message::Content;
use crate::outcome::Outcome;
use crate::rules::Budget;
use crate::run_context::RunContext;
use crate::settings::{AgentInner, AnswerSpec};
use crate::value::{ValueError, to_value};

/// One run, to be configured and then awaited, streamed or started.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
/// let outcome = agent
///     .run("go")
///     .run_id("nightly-17")
///     .budget(Budget::new().max_steps(4))
///     .context("user", 42)
///     .await?;
/// assert_eq!(outcome.answer().map(|answer| answer.text()), Some("done"));
/// # Ok(())
/// # }
/// ```
#[must_use = "a run does nothing until it is awaited, streamed or started"]
pub struct RunBuilder<'c> {
    agent: Arc<AgentInner>,
    prompt: Content,
    start: Start,
    /// What is wrong with what it was given; said when it starts.
    unkept: Option<ValueError>,
    place: Option<&'c mut HistoryPlace>,
}

impl<'c> RunBuilder<'c> {
    pub(crate) fn new(agent: Arc<AgentInner>, prompt: Content, place: Option<&'c mut HistoryPlace>) -> Self {
        let context = RunContext::new(RunId::new(), agent.settings.name.clone());
        Self { agent, prompt, start: Start::new(context), unkept: None, place }
    }

    /// Names the run; a random name is made where none is given. A durable run's name is unique in its store.
    ///
    /// An empty name is [`Error::EmptyRunId`] when the run starts.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
    /// let outcome = agent.run("Go.").run_id("order-17").await?;
    /// assert_eq!(outcome.answer().map(|answer| answer.run_id().as_str()), Some("order-17"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_id(mut self, run_id: impl Into<RunId>) -> Self {
        self.start.context.run_id = run_id.into();
        self
    }

    /// The limits of this run, in place of the agent's.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([])).build()?;
    /// let refused = agent.run("Go.").budget(Budget::new().max_model_calls(0)).await;
    /// assert!(matches!(refused, Err(Error::Budget { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn budget(mut self, budget: Budget) -> Self {
        self.start.budget = Some(budget);
        self
    }

    /// Gives hooks, tools and the policy a value to read under `key`.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// #[before_model]
    /// fn greet(request: &mut ModelRequest<'_>) {
    ///     let user = request
    ///         .context()
    ///         .get("user")
    ///         .and_then(|user| user.as_str())
    ///         .unwrap_or("guest")
    ///         .to_owned();
    ///     request.history().append_system(format!("The user is {user}."));
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text("Hello, Ada.")]);
    /// let agent = Agent::builder("a").model(model.clone()).hooks(hooks![greet]).build()?;
    /// agent.run("Hi!").context("user", "Ada").await?;
    /// assert_eq!(model.requests()[0].system, "The user is Ada.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn context(mut self, key: impl Into<String>, value: impl Serialize) -> Self {
        match to_value(&value) {
            Ok(value) => drop(self.start.context.metadata.insert(key.into(), value)),
            Err(error) => self.unkept = self.unkept.or(Some(error)),
        }
        self
    }

    /// Labels the run, for finding it again in a store.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use protolink::durable::{Page, RunFilter, RunStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = MemoryStore::new();
    /// let model = ScriptedModel::new([Reply::text("done")]);
    /// let agent = Agent::builder("a").model(model).durable(store.clone()).build()?;
    /// agent.run("Go.").run_id("r-1").label("tenant", "acme").await?;
    ///
    /// let found = store.list(&RunFilter::new().label("tenant", "acme"), Page::default()).await?;
    /// assert_eq!(found.runs[0].run_id, "r-1");
    /// # Ok(())
    /// # }
    /// ```
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.start.context.labels.insert(key.into(), value.into());
        self
    }

    /// Lets this token cancel the run (contract S7).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use protolink::CancellationToken;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::hang()])).build()?;
    /// let token = CancellationToken::new();
    /// token.cancel(); // from a signal handler, a deadline, a closed connection
    /// assert!(matches!(agent.run("Go.").cancel(token).await, Err(Error::Cancelled { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.start.cancel = token;
        self
    }

    /// Holds text back until the check has passed, so that a refused answer shows no character of itself.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text("a secret")]);
    /// let agent = Agent::builder("a")
    ///     .model(model)
    ///     .before_complete("no_secrets", |response: &mut FinalResponse<'_>| match response.text() {
    ///         Some(text) if text.contains("secret") => Err("it tells a secret"),
    ///         _ => Ok(()),
    ///     })
    ///     .build()?;
    /// let mut stream = agent.run("Tell me.").hold_output(true).stream();
    /// while let Some(event) = stream.next().await {
    ///     assert!(
    ///         !matches!(event, Ok(RunEvent::TextDelta { .. })),
    ///         "nothing of a refused answer is shown"
    ///     );
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn hold_output(mut self, hold: bool) -> Self {
        self.start.hold_output = hold;
        self
    }

    pub(crate) fn session(mut self, session: Option<String>) -> Self {
        self.start.context.session = session;
        self
    }

    pub(crate) fn answer(mut self, answer: AnswerSpec) -> Self {
        self.start.answer = Some(answer);
        self
    }

    fn listened_to_by(mut self, listener: UnboundedSender<RunEvent>) -> Self {
        self.start.listener = Some(listener);
        self
    }

    fn go(self) -> BoxFuture<'c, Result<Outcome, Error>> {
        let Self { agent, prompt, start, unkept, place } = self;
        Box::pin(async move {
            if start.context.run_id.as_str().is_empty() {
                return Err(Error::EmptyRunId);
            }
            if let Some(source) = unkept {
                return Err(Error::Value { run_id: start.context.run_id, source });
            }
            run_prompt(agent, start, prompt, place).await
        })
    }

    /// Runs while the stream is read, and shows what happens. The last item is `Completed`, `Interrupted` or an error;
    /// dropping the stream before drops the run.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a")
    ///     .model(ScriptedModel::new([Reply::text("Once upon a time.")]))
    ///     .build()?;
    /// let mut stream = agent.run("Tell me a story.").stream();
    /// while let Some(event) = stream.next().await {
    ///     match event? {
    ///         RunEvent::TextDelta { text, .. } => print!("{text}"), // provisional
    ///         RunEvent::Completed(answer) => assert_eq!(answer.text(), "Once upon a time."),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream(self) -> RunStream<'c> {
        let (sender, events) = unbounded_channel();
        RunStream::new(events, self.listened_to_by(sender).go())
    }
}

impl RunBuilder<'static> {
    /// Starts the run in a task of its own: it goes on whether or not its events are read.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
    /// let handle = agent.run("Go.").start();
    /// println!("{} runs", handle.run_id());
    /// assert_eq!(handle.result().await?.answer().map(Answer::text), Some("done"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// Never by itself; like `tokio::spawn` it needs to be called inside a runtime, and says so otherwise.
    #[must_use = "the run goes on without its handle; ask for its result, or drop the handle on purpose"]
    pub fn start(mut self) -> RunHandle {
        let cancel = self.start.cancel.child_token();
        self.start.cancel = cancel.clone();
        let run_id = self.start.context.run_id.clone();
        let (sender, events) = unbounded_channel();
        let task = tokio::spawn(self.listened_to_by(sender).go());
        RunHandle::new(run_id, cancel, events, task)
    }
}

impl<'c> IntoFuture for RunBuilder<'c> {
    type Output = Result<Outcome, Error>;
    type IntoFuture = BoxFuture<'c, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.go()
    }
}

impl fmt::Debug for RunBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunBuilder").field("run_id", &self.start.context.run_id).finish_non_exhaustive()
    }
}
