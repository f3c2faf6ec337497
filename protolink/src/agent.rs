//! The agent: what an application holds on to.

mod stored;
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
use crate::error::Error;
use crate::fingerprint::ContractFingerprint;
use crate::ids::RunId;
use crate::message::Content;
use crate::outcome::{Answer, Outcome};
use crate::run::{self, RunBuilder};
use crate::settings::{AgentInner, AnswerSpec};
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
