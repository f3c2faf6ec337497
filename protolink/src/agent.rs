//! The agent: what an application holds on to.

use std::marker::PhantomData;
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
use crate::hook::{AnswerType, text_of};
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
    /// Begins an agent of this name.
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
    /// # Errors
    /// [`Error::Answer`] where no reply fits; any other [`Error`] as for [`invoke`](Self::invoke).
    pub async fn invoke_as<T: DeserializeOwned + JsonSchema>(&self, prompt: impl Into<Content>) -> Result<T, Error> {
        let answer = answered(self.run(prompt).answer(AnswerSpec::of::<T>()).await?)?;
        decode(&answer)
    }

    /// A run of this prompt, to be configured and then awaited, streamed or started.
    pub fn run(&self, prompt: impl Into<Content>) -> RunBuilder<'static> {
        RunBuilder::new(Arc::clone(&self.inner), prompt.into(), None)
    }

    /// Takes a stored run up again (contract D2 to D11).
    pub fn resume(&self, run_id: impl Into<RunId>) -> ResumeBuilder<'static> {
        ResumeBuilder::new(Arc::clone(&self.inner), run_id.into(), None)
    }

    /// What a stored run wrote down, one record a commit: what hooks did, what was called, what really happened and
    /// what the model saw of it. See [`durable::journal`](crate::durable::journal()).
    ///
    /// # Errors
    /// [`Error::NoStore`]; [`Error::Store`] where the run cannot be read.
    pub async fn journal(&self, run_id: impl Into<RunId>) -> Result<Vec<Record>, Error> {
        let store = run::store_of(&self.inner)?;
        Ok(crate::durable::journal(&*store, &run_id.into()).await?)
    }

    /// What a stored run waits for, if it waits.
    ///
    /// # Errors
    /// [`Error::NoStore`]; [`Error::Store`] where the run cannot be read.
    pub async fn interruption(&self, run_id: impl Into<RunId>) -> Result<Option<Interruption>, Error> {
        run::interruption(&self.inner, &run_id.into()).await
    }

    /// Says what came of an action that was started and of which nobody knows, or whose result could not be kept
    /// (contract D3, T7). The run can then be resumed.
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
    /// # Errors
    /// [`Error::RunBusy`] while another worker runs it; [`Error::Store`].
    pub async fn cancel(&self, run_id: impl Into<RunId>) -> Result<(), Error> {
        run::cancel_run(&self.inner, &run_id.into()).await
    }

    /// A new conversation.
    #[must_use]
    pub fn conversation(&self) -> Conversation {
        Conversation::new(Arc::clone(&self.inner))
    }

    /// The conversation of this name, as its runs left it in the store; a new one where there are none.
    ///
    /// # Errors
    /// [`Error::NoStore`]; [`Error::Store`] where its runs cannot be read.
    pub async fn conversation_id(&self, name: impl Into<String>) -> Result<Conversation, Error> {
        Conversation::load(Arc::clone(&self.inner), name.into()).await
    }

    /// Calls one tool, outside of the loop: no hook runs; policy, budget and receipts apply (contract S8).
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

/// An agent whose answers are values of `T`.
#[derive(Debug, Clone)]
pub struct TypedAgent<T> {
    agent: Agent,
    answer: PhantomData<fn() -> T>,
}

impl<T: AnswerType + DeserializeOwned> TypedAgent<T> {
    pub(crate) fn new(agent: Agent) -> Self {
        Self { agent, answer: PhantomData }
    }

    /// Runs a prompt to its answer.
    ///
    /// # Errors
    /// [`Error::Answer`] where no reply fits the type; any other [`Error`] as for [`Agent::invoke`].
    pub async fn invoke(&self, prompt: impl Into<Content>) -> Result<T, Error> {
        decode(&self.agent.invoke(prompt).await?)
    }

    /// The agent behind it: its answers are JSON of `T`.
    #[must_use]
    pub fn agent(&self) -> &Agent {
        &self.agent
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
