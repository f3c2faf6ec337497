//! The agent for callers that do not await.

use tokio::runtime::{Builder, Handle};

use crate::agent::Agent;
use crate::error::Error;
use crate::message::Content;
use crate::outcome::Answer;

/// An agent whose runs block the calling thread.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
/// assert_eq!(agent.blocking().invoke("go")?.text(), "done");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct BlockingAgent {
    agent: Agent,
}

impl BlockingAgent {
    pub(crate) fn new(agent: Agent) -> Self {
        Self { agent }
    }

    /// Runs a prompt to its answer, on this thread.
    ///
    /// # Errors
    /// [`Error::BlockingInRuntime`] inside an async runtime, which it would block; any other [`Error`] as for
    /// [`Agent::invoke`].
    pub fn invoke(&self, prompt: impl Into<Content>) -> Result<Answer, Error> {
        self.block_on(self.agent.invoke(prompt))
    }

    /// Waits on this thread for anything that an agent does.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// let model = ScriptedModel::new([Reply::text("done"), Reply::text("and again")]);
    /// let agent = Agent::builder("a").model(model).build()?;
    /// let outcome = agent.blocking().block_on(agent.run("Go.").run_id("r-1"))?;
    /// assert_eq!(outcome.answer().map(Answer::text), Some("done"));
    ///
    /// let mut conversation = agent.conversation();
    /// agent.blocking().block_on(async { conversation.invoke("Go on.").await })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BlockingInRuntime`] inside an async runtime; the error of what is waited for.
    pub fn block_on<T>(&self, work: impl IntoFuture<Output = Result<T, Error>>) -> Result<T, Error> {
        if Handle::try_current().is_ok() {
            return Err(Error::BlockingInRuntime);
        }
        let runtime = Builder::new_current_thread().enable_all().build().map_err(Error::NoRuntime)?;
        runtime.block_on(work.into_future())
    }
}
