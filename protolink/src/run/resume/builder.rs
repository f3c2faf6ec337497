//! A resume before it starts.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::fingerprint::ContractChange;
use crate::hook::BoxFuture;
use crate::ids::RunId;
use crate::outcome::{Interruption, Outcome};
use crate::rules::Budget;
use crate::run::place::HistoryPlace;
use crate::run::stream::RunStream;
use crate::settings::{AgentInner, AnswerSpec};

/// What a person said to what a run waits for.
#[derive(Debug, Clone)]
pub(super) enum Response {
    Approve,
    Reject(String),
    Answer(String),
}

/// A run of a store, to be taken up again.
///
/// Without a response, a run that waits for a person goes on waiting (contract D11).
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// # /// Give money back.
/// # #[tool(capability = "money")]
/// # fn refund(cents: u64) -> String { format!("{cents} cents") }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
/// # let agent = Agent::builder("clerk")
/// #     .model(model)
/// #     .tools(tools![refund])
/// #     .policy(CapabilityPolicy::new().require_approval("money"))
/// #     .durable(MemoryStore::new())
/// #     .build()?;
/// let Outcome::Interrupted(waits_for) = agent.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
///
/// assert!(matches!(agent.resume("r-1").await?, Outcome::Interrupted(_)), "nobody said yes");
/// let outcome = agent.resume("r-1").budget(Budget::new().max_steps(4)).approve(&waits_for).await?;
/// assert_eq!(outcome.answer().map(Answer::text), Some("Done."));
/// # Ok(())
/// # }
/// ```
#[must_use = "a resume does nothing until it is awaited or streamed"]
pub struct ResumeBuilder<'c> {
    pub(super) agent: Arc<AgentInner>,
    pub(super) run_id: RunId,
    pub(super) response: Option<(Interruption, Response)>,
    pub(super) accepted: Vec<ContractChange>,
    pub(super) budget: Option<Budget>,
    pub(super) cancel: CancellationToken,
    pub(super) hold_output: bool,
    pub(super) answer: Option<AnswerSpec>,
    pub(super) place: Option<&'c mut HistoryPlace>,
}

impl<'c> ResumeBuilder<'c> {
    pub(crate) fn new(agent: Arc<AgentInner>, run_id: RunId, place: Option<&'c mut HistoryPlace>) -> Self {
        Self {
            agent,
            run_id,
            response: None,
            accepted: Vec::new(),
            budget: None,
            cancel: CancellationToken::new(),
            hold_output: false,
            answer: None,
            place,
        }
    }

    fn respond(mut self, interruption: &Interruption, response: Response) -> Self {
        self.response = Some((interruption.clone(), response));
        self
    }

    /// Says yes to the call that waits: this one, with these arguments (contract D4).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool(capability = "money")]
    /// # fn refund(cents: u64) -> String { format!("{cents} cents") }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk")
    /// #     .model(model)
    /// #     .tools(tools![refund])
    /// #     .policy(CapabilityPolicy::new().require_approval("money"))
    /// #     .durable(MemoryStore::new())
    /// #     .build()?;
    /// let Outcome::Interrupted(waits_for) = agent.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
    /// let outcome = agent.resume("r-1").approve(&waits_for).await?;
    /// assert!(outcome.answer().is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn approve(self, interruption: &Interruption) -> Self {
        self.respond(interruption, Response::Approve)
    }

    /// Says no: to the call that waits, or to answering the question. The model is told, and the run goes on.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool(capability = "money")]
    /// # fn refund(cents: u64) -> String { format!("{cents} cents") }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk")
    /// #     .model(model)
    /// #     .tools(tools![refund])
    /// #     .policy(CapabilityPolicy::new().require_approval("money"))
    /// #     .durable(MemoryStore::new())
    /// #     .build()?;
    /// let Outcome::Interrupted(waits_for) = agent.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
    /// let outcome = agent.resume("r-1").reject(&waits_for).await?;
    /// assert!(outcome.answer().is_some(), "the model was told, and answered");
    /// # Ok(())
    /// # }
    /// ```
    pub fn reject(self, interruption: &Interruption) -> Self {
        let reason = match interruption.question() {
            Some(_) => "the user declined to answer",
            None => "it was not approved",
        };
        self.reject_because(interruption, reason)
    }

    /// Says no as [`reject`](Self::reject) does, with a reason that the model is told.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool(capability = "money")]
    /// # fn refund(cents: u64) -> String { format!("{cents} cents") }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk")
    /// #     .model(model.clone())
    /// #     .tools(tools![refund])
    /// #     .policy(CapabilityPolicy::new().require_approval("money"))
    /// #     .durable(MemoryStore::new())
    /// #     .build()?;
    /// let Outcome::Interrupted(waits_for) = agent.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
    /// agent.resume("r-1").reject_because(&waits_for, "the order is too old").await?;
    /// let turn = &model.requests()[1].messages[1];
    /// assert!(turn.calls()[0].outcome.to_model_text().ends_with("the order is too old"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn reject_because(self, interruption: &Interruption, reason: impl Into<String>) -> Self {
        self.respond(interruption, Response::Reject(reason.into()))
    }

    /// Answers the question that the model asked; whoever does not want to says so by [`reject`](Self::reject).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Reply::call("ask_user", serde_json::json!({ "question": "Which order?" })),
    ///     Reply::text("A-17 it is."),
    /// ]);
    /// let agent = Agent::builder("clerk").model(model).ask_user().durable(MemoryStore::new()).build()?;
    /// let Outcome::Interrupted(waits_for) = agent.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
    /// assert_eq!(waits_for.question(), Some("Which order?"));
    /// let outcome = agent.resume("r-1").answer(&waits_for, "A-17").await?;
    /// assert!(outcome.answer().is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer(self, interruption: &Interruption, text: impl Into<String>) -> Self {
        self.respond(interruption, Response::Answer(text.into()))
    }

    /// Accepts these changes of the agent, and has that recorded (contract D9). They must be all that changed.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool(capability = "money")]
    /// # fn refund(cents: u64) -> String { format!("{cents} cents") }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let store = MemoryStore::new();
    /// # let agent = |version: &str| Agent::builder("clerk")
    /// #     .model(model.clone())
    /// #     .tools(tools![refund])
    /// #     .policy(CapabilityPolicy::new().require_approval("money"))
    /// #     .durable(store.clone())
    /// #     .execution_version(version)
    /// #     .build();
    /// let Outcome::Interrupted(waits_for) = agent("1")?.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
    ///
    /// // After a deploy the run is refused, in words. Whoever has read them can accept them.
    /// let deployed = agent("2")?;
    /// let Err(Error::ContractChanged { changes, .. }) = deployed.resume("r-1").await else { panic!("it changed") };
    /// assert_eq!(changes[0].to_string(), "the execution version changed");
    /// let outcome = deployed.resume("r-1").accept(changes).approve(&waits_for).await?;
    /// assert!(outcome.answer().is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn accept(mut self, changes: impl IntoIterator<Item = ContractChange>) -> Self {
        self.accepted.extend(changes);
        self
    }

    /// New limits; what was spent before still counts (contract D10).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text("done")]);
    /// let agent = Agent::builder("a").model(model).durable(MemoryStore::new()).build()?;
    /// let broke = agent.run("Go.").run_id("r-1").budget(Budget::new().max_model_calls(0)).await;
    /// assert!(matches!(broke, Err(Error::Budget { .. })));
    /// let outcome = agent.resume("r-1").budget(Budget::new().max_model_calls(2)).await?;
    /// assert!(outcome.answer().is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Lets this token cancel the run.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool(capability = "money")]
    /// # fn refund(cents: u64) -> String { format!("{cents} cents") }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk")
    /// #     .model(model)
    /// #     .tools(tools![refund])
    /// #     .policy(CapabilityPolicy::new().require_approval("money"))
    /// #     .durable(MemoryStore::new())
    /// #     .build()?;
    /// let Outcome::Interrupted(waits_for) = agent.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
    /// let token = protolink::CancellationToken::new();
    /// token.cancel();
    /// let cancelled = agent.resume("r-1").approve(&waits_for).cancel(token).await;
    /// assert!(matches!(cancelled, Err(Error::Cancelled { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Holds text back until the check has passed.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool(capability = "money")]
    /// # fn refund(cents: u64) -> String { format!("{cents} cents") }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk")
    /// #     .model(model)
    /// #     .tools(tools![refund])
    /// #     .policy(CapabilityPolicy::new().require_approval("money"))
    /// #     .durable(MemoryStore::new())
    /// #     .build()?;
    /// let Outcome::Interrupted(waits_for) = agent.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
    /// let mut stream = agent.resume("r-1").approve(&waits_for).hold_output(true).stream();
    /// let mut shown = String::new();
    /// while let Some(event) = stream.next().await {
    ///     if let RunEvent::TextDelta { text, .. } = event? {
    ///         shown.push_str(&text); // what was shown was checked
    ///     }
    /// }
    /// assert_eq!(shown, "Done.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn hold_output(mut self, hold: bool) -> Self {
        self.hold_output = hold;
        self
    }

    /// Says of which type the answer is, for a run that was started by [`invoke_as`](crate::Agent::invoke_as). Without
    /// it the answer's content is JSON that nobody checked against the type.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Verdict {
    ///     score: u8,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::permanent("down"), Reply::text(r#"{ "score": 7 }"#)]);
    /// let agent = Agent::builder("critic").model(model).durable(MemoryStore::new()).build()?;
    /// let failed =
    ///     agent.invoke_as::<Verdict>("How good is it?").await.err().ok_or("the model was down")?;
    /// let run_id = failed.run_id().ok_or("the error names its run")?;
    /// let outcome = agent.resume(run_id).answer_as::<Verdict>().await?;
    /// assert_eq!(outcome.answer().map(|answer| &answer.content()["score"]), Some(&7.into()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer_as<T: DeserializeOwned + JsonSchema>(mut self) -> Self {
        self.answer = Some(AnswerSpec::of::<T>());
        self
    }

    /// Goes on while the stream is read, and shows what happens.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool(capability = "money")]
    /// # fn refund(cents: u64) -> String { format!("{cents} cents") }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk")
    /// #     .model(model)
    /// #     .tools(tools![refund])
    /// #     .policy(CapabilityPolicy::new().require_approval("money"))
    /// #     .durable(MemoryStore::new())
    /// #     .build()?;
    /// let Outcome::Interrupted(waits_for) = agent.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
    /// let mut stream = agent.resume("r-1").approve(&waits_for).stream();
    /// assert!(matches!(stream.next().await, Some(Ok(RunEvent::Started { resumed: true, .. }))));
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream(self) -> RunStream<'c> {
        let (sender, events) = unbounded_channel();
        RunStream::new(events, Box::pin(self.go(Some(sender))))
    }
}

impl<'c> IntoFuture for ResumeBuilder<'c> {
    type Output = Result<Outcome, Error>;
    type IntoFuture = BoxFuture<'c, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.go(None))
    }
}

impl fmt::Debug for ResumeBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumeBuilder").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}
