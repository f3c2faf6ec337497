//! The agent: what an application holds on to.

mod typed;

pub use typed::TypedAgent;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::blocking::BlockingAgent;
use crate::builder::AgentBuilder;
use crate::config::AgentConfig;
use crate::conversation::Conversation;
use crate::durable::Record;
use crate::error::Error;
use crate::fingerprint::ContractFingerprint;
use crate::hook::text_of;
use crate::ids::{ActionId, RunId};
use crate::message::Content;
use crate::outcome::{Answer, Interruption, Outcome};
use crate::receipt::ReceiptOutcome;
use crate::run::{self, ResumeBuilder, RunBuilder};
use crate::settings::{AgentInner, AnswerSpec};
use crate::tool::ToolError;
use crate::value::{ValueError, to_value};

/// An agent: a model, its tools, and your own code in its loop.
///
/// It is cheap to clone, and clones share everything: hooks, tools, store. Concurrent runs share nothing but that.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("helper")
///     .instructions("Answer in one word.")
///     .model(ScriptedModel::new([Reply::text("Paris")]))
///     .build()?;
/// assert_eq!(agent.invoke("What is the capital of France?").await?.text(), "Paris");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Agent {
    inner: Arc<AgentInner>,
}

impl Agent {
    /// Begins an agent of this name, which errors, spans and stored runs carry.
    ///
    /// See [`AgentBuilder`] for all that it can be told.
    pub fn builder(name: impl Into<String>) -> AgentBuilder {
        AgentBuilder::new(name.into())
    }

    pub(crate) fn new(inner: AgentInner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// The agent's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.settings.name
    }

    /// Runs a prompt to its answer: a conversation of one.
    ///
    /// # Errors
    /// [`Error`]; a run that waits for a person is [`Error::Interrupted`].
    pub async fn invoke(&self, prompt: impl Into<Content>) -> Result<Answer, Error> {
        answered(self.run(prompt).await?)
    }

    /// Runs a prompt to an answer of the type `T`: the model is told its JSON Schema, and a reply that does not fit
    /// goes back to it with the reason, as often as `max_revisions` says (twice, where that was not said).
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
    /// let model = ScriptedModel::new([Reply::text("I like it!"), Reply::text(r#"{ "score": 7 }"#)]);
    /// let critic = Agent::builder("critic").model(model.clone()).build()?;
    /// let verdict: Verdict = critic.invoke_as("How good is it, from 0 to 10?").await?;
    /// assert_eq!(verdict.score, 7);
    /// assert_eq!(model.requests().len(), 2, "the first reply did not fit");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Answer`] where no reply fits; any other [`Error`] as for [`invoke`](Self::invoke).
    pub async fn invoke_as<T: DeserializeOwned + JsonSchema>(&self, prompt: impl Into<Content>) -> Result<T, Error> {
        let answer = answered(self.run(prompt).answer(AnswerSpec::of::<T>()).await?)?;
        decode(&answer)
    }

    /// A run of this prompt, to be configured and then awaited, streamed or started.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
    /// match agent.run("Go.").run_id("job-17").budget(Budget::new().max_steps(5)).await? {
    ///     Outcome::Completed(answer) => assert_eq!(answer.text(), "done"),
    ///     Outcome::Interrupted(interruption) => println!("waits: {interruption}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn run(&self, prompt: impl Into<Content>) -> RunBuilder<'static> {
        RunBuilder::new(Arc::clone(&self.inner), prompt.into(), None)
    }

    /// A new conversation.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text("Hello, Ada."), Reply::text("You are Ada.")]);
    /// let agent = Agent::builder("a").model(model).build()?;
    /// let mut conversation = agent.conversation();
    /// conversation.invoke("I am Ada.").await?;
    /// assert_eq!(conversation.invoke("Who am I?").await?.text(), "You are Ada.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn conversation(&self) -> Conversation {
        Conversation::new(Arc::clone(&self.inner))
    }

    /// Calls one tool, outside of the loop: no hook runs; policy, budget and receipts apply (contract S8).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use serde_json::json;
    ///
    /// /// Add two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([])).tools(tools![add]).build()?;
    /// assert_eq!(agent.call_tool("add", json!({ "a": 2, "b": 3 })).await?, 5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::UnknownTool`], [`Error::CallRefused`], [`Error::Tool`]; a call that waits for a person is
    /// [`Error::Interrupted`].
    pub async fn call_tool(&self, name: &str, arguments: impl Serialize) -> Result<Value, Error> {
        let run_id = RunId::new();
        let arguments = to_value(&arguments).map_err(|source| Error::Value { run_id, source })?;
        let answer = answered(run::call_tool(Arc::clone(&self.inner), name, arguments).await?)?;
        Ok(answer.content().clone())
    }

    /// The same agent for callers that do not await.
    #[must_use]
    pub fn blocking(&self) -> BlockingAgent {
        BlockingAgent::new(self.clone())
    }

    /// What the agent's runs depend on (contract D6).
    #[must_use]
    pub fn fingerprint(&self) -> &ContractFingerprint {
        &self.inner.contract
    }

    /// The agent's configuration as data (contract P4).
    #[must_use]
    pub fn config(&self) -> AgentConfig {
        self.inner.config.clone()
    }
}

/// Runs that are kept in a store.
impl Agent {
    /// Takes a stored run up again (contract D2 to D11).
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
    /// agent.run("Refund it.").run_id("r-1").await?;
    ///
    /// // In another process, a week later: the same agent on the same store.
    /// let waits_for = agent.interruption("r-1").await?.ok_or("nobody is waited for")?;
    /// let outcome = agent.resume("r-1").approve(&waits_for).await?;
    /// assert_eq!(outcome.answer().map(Answer::text), Some("Done."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume(&self, run_id: impl Into<RunId>) -> ResumeBuilder<'static> {
        ResumeBuilder::new(Arc::clone(&self.inner), run_id.into(), None)
    }

    /// What a stored run wrote down, one record a commit: what hooks did, what was called, what really happened and
    /// what the model saw of it. See [`durable::journal`](crate::durable::journal()).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use protolink::durable::Record;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text("done")]);
    /// let agent = Agent::builder("a").model(model).durable(MemoryStore::new()).build()?;
    /// agent.run("Go.").run_id("r-1").await?;
    /// let records = agent.journal("r-1").await?;
    /// assert!(matches!(
    ///     records[..],
    ///     [Record::Started(_), Record::Replied(_), Record::Completed { .. }]
    /// ));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoStore`]; [`Error::Store`] where the run cannot be read.
    pub async fn journal(&self, run_id: impl Into<RunId>) -> Result<Vec<Record>, Error> {
        let store = run::store_of(&self.inner)?;
        Ok(crate::durable::journal(&*store, &run_id.into()).await?)
    }

    /// What a stored run waits for, if it waits.
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
    /// agent.run("Refund it.").run_id("r-1").await?;
    /// let waits_for = agent.interruption("r-1").await?.ok_or("nobody is waited for")?;
    /// assert_eq!(waits_for.tool(), Some("refund"));
    /// assert_eq!(waits_for.arguments(), Some(&serde_json::json!({ "cents": 900 })));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoStore`]; [`Error::Store`] where the run cannot be read.
    pub async fn interruption(&self, run_id: impl Into<RunId>) -> Result<Option<Interruption>, Error> {
        run::interruption(&self.inner, &run_id.into()).await
    }

    /// Says what came of an action that was started and of which nobody knows, or whose result could not be kept
    /// (contract D3, T7). The run can then be resumed.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool]
    /// # async fn refund(cents: u64) -> Result<String, ToolError> { Err(ToolError::uncertain("the bank did not reply")) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk").model(model).tools(tools![refund]).durable(MemoryStore::new()).build()?;
    /// let failed = agent.run("Refund it.").run_id("r-1").await;
    /// let Err(Error::Uncertain { action_id, .. }) = agent.resume("r-1").await else { panic!("nobody knows yet") };
    ///
    /// // The bank's own records say that it was paid.
    /// agent.reconcile("r-1", action_id, "900 cents").await?;
    /// assert!(agent.resume("r-1").await?.answer().is_some());
    /// # assert!(failed.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotResumable`] where the action is not an uncertain one; [`Error::Value`] where the result cannot be
    /// stored exactly.
    pub async fn reconcile(
        &self,
        run_id: impl Into<RunId>,
        action_id: impl Into<ActionId>,
        result: impl Serialize,
    ) -> Result<(), Error> {
        let run_id = run_id.into();
        let result = to_value(&result).map_err(|source| Error::Value { run_id: run_id.clone(), source })?;
        run::reconcile(&self.inner, &run_id, &action_id.into(), ReceiptOutcome::Reconciled(result.into())).await
    }

    /// Says that an action that was started and of which nobody knows came to nothing (contract D3). The run can then be
    /// resumed, and the model is told what the tool would have told it.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool]
    /// # async fn refund(cents: u64) -> Result<String, ToolError> { Err(ToolError::uncertain("the bank did not reply")) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk").model(model).tools(tools![refund]).durable(MemoryStore::new()).build()?;
    /// let failed = agent.run("Refund it.").run_id("r-1").await;
    /// let Err(Error::Uncertain { action_id, .. }) = agent.resume("r-1").await else { panic!("nobody knows yet") };
    ///
    /// // The bank's own records know nothing of it.
    /// agent.reconcile_failed("r-1", action_id, ToolError::rejected("the bank was not reached")).await?;
    /// assert!(agent.resume("r-1").await?.answer().is_some());
    /// # assert!(failed.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotResumable`] where the action is not an uncertain one, or its effect is known to have happened, or
    /// where [`ToolError::Uncertain`] says as little as was known before.
    pub async fn reconcile_failed(
        &self,
        run_id: impl Into<RunId>,
        action_id: impl Into<ActionId>,
        error: impl Into<ToolError>,
    ) -> Result<(), Error> {
        let run_id = run_id.into();
        let outcome = match error.into() {
            ToolError::Rejected(reason) => ReceiptOutcome::Rejected(reason),
            ToolError::Failed(error) | ToolError::Reported(error) => ReceiptOutcome::Failed(text_of(&error)),
            ToolError::Uncertain(_) => {
                return Err(Error::NotResumable {
                    run_id,
                    reason: "an uncertain end is no end of an uncertain action",
                });
            }
        };
        run::reconcile(&self.inner, &run_id, &action_id.into(), outcome).await
    }

    /// Ends a stored run that waits, failed or crashed: calls in flight are uncertain, and its conversation can go on.
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
    /// agent.run("Refund it.").run_id("r-1").await?;
    /// agent.cancel("r-1").await?;
    /// assert!(agent.resume("r-1").await.is_err(), "it is over");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::RunBusy`] while another worker runs it; [`Error::Store`].
    pub async fn cancel(&self, run_id: impl Into<RunId>) -> Result<(), Error> {
        run::cancel_run(&self.inner, &run_id.into()).await
    }

    /// The conversation of this name, as its runs left it in the store; a new one where there are none.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = MemoryStore::new();
    /// let model = ScriptedModel::new([Reply::text("Hello, Ada.")]);
    /// let agent = Agent::builder("a").model(model).durable(store).build()?;
    /// agent.conversation_id("ada").await?.invoke("I am Ada.").await?;
    ///
    /// // In another process: what was said is there.
    /// assert_eq!(agent.conversation_id("ada").await?.messages().len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoStore`]; [`Error::Store`] where its runs cannot be read.
    pub async fn conversation_id(&self, name: impl Into<String>) -> Result<Conversation, Error> {
        Conversation::load(Arc::clone(&self.inner), name.into()).await
    }
}

/// The answer of a run; a run that waits is an error here.
pub(crate) fn answered(outcome: Outcome) -> Result<Answer, Error> {
    match outcome {
        Outcome::Completed(answer) => Ok(answer),
        Outcome::Interrupted(interruption) => Err(Error::Interrupted(Box::new(interruption))),
    }
}

fn decode<T: DeserializeOwned>(answer: &Answer) -> Result<T, Error> {
    T::deserialize(answer.content()).map_err(|error| Error::Answer {
        run_id: answer.run_id().clone(),
        step: answer.steps(),
        source: ValueError::misfit(&error),
    })
}
