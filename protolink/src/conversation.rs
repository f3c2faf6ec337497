//! A conversation: what is kept between runs.

use std::fmt;
use std::sync::Arc;

use crate::agent::answered;
use crate::error::Error;
use crate::ids::RunId;
use crate::message::{Content, Message};
use crate::outcome::Answer;
use crate::run::{self, HistoryPlace, ResumeBuilder, RunBuilder};
use crate::settings::AgentInner;

/// A conversation with an agent: each run goes on from what the last one left.
///
/// It keeps hook-edited history and validated answers (contract M2, F3). A run that fails leaves it well-formed, and
/// the next run works (contract P6).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::text("Hello, Ada."), Reply::text("Ada.")]);
/// let agent = Agent::builder("a").model(model).build()?;
/// let mut conversation = agent.conversation();
/// conversation.invoke("I am Ada.").await?;
/// conversation.invoke("Who am I?").await?;
/// assert_eq!(conversation.messages().len(), 4);
/// # Ok(())
/// # }
/// ```
pub struct Conversation {
    agent: Arc<AgentInner>,
    place: HistoryPlace,
}

impl Conversation {
    pub(crate) fn new(agent: Arc<AgentInner>) -> Self {
        // In a store, its runs are found by a name; it gets one that nobody else has.
        let name = agent.settings.store.is_some().then(|| RunId::new().to_string());
        Self { agent, place: name.map_or_else(HistoryPlace::default, HistoryPlace::named) }
    }

    pub(crate) async fn load(agent: Arc<AgentInner>, name: String) -> Result<Self, Error> {
        let store = run::store_of(&agent)?;
        let place = run::conversation(&store, name).await?;
        Ok(Self { agent, place })
    }

    /// The name by which a store knows it.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.place.name.as_deref()
    }

    /// Its messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Arc<Message>] {
        self.place.history.messages()
    }

    /// The run that waits for a person or was cut short: it is to be resumed, or cancelled, before the next.
    #[must_use]
    pub fn open_run(&self) -> Option<&RunId> {
        self.place.open.as_ref()
    }

    /// Runs a prompt to its answer.
    ///
    /// # Errors
    /// [`Error`]; the conversation stays well-formed.
    pub async fn invoke(&mut self, prompt: impl Into<Content>) -> Result<Answer, Error> {
        answered(self.run(prompt).await?)
    }

    /// A run of this prompt, to be configured and then awaited or streamed.
    pub fn run(&mut self, prompt: impl Into<Content>) -> RunBuilder<'_> {
        let session = self.place.name.clone();
        RunBuilder::new(Arc::clone(&self.agent), prompt.into(), Some(&mut self.place)).session(session)
    }

    /// Takes the run up that the conversation waits for.
    pub fn resume(&mut self, run_id: impl Into<RunId>) -> ResumeBuilder<'_> {
        ResumeBuilder::new(Arc::clone(&self.agent), run_id.into(), Some(&mut self.place))
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("agent", &self.agent.settings.name)
            .field("messages", &self.messages().len())
            .finish_non_exhaustive()
    }
}
