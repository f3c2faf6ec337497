//! An agent whose answers have a type.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::{Agent, decode};
use crate::error::Error;
use crate::hook::AnswerType;
use crate::message::Content;

/// An agent whose answers are values of `T`, as [`AgentBuilder::answer`](crate::AgentBuilder::answer) makes it.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, schemars::JsonSchema)]
/// struct Verdict {
///     score: u8,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::text(r#"{ "score": 7 }"#)]);
/// let critic = Agent::builder("critic").model(model).answer::<Verdict>().build()?;
/// let verdict = critic.invoke("How good is it, from 0 to 10?").await?;
/// assert_eq!(verdict.score, 7);
/// assert_eq!(critic.agent().name(), "critic");
/// # Ok(())
/// # }
/// ```
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
