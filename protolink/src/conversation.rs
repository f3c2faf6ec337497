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
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("Hello.")])).build()?;
    /// let mut conversation = agent.conversation();
    /// assert_eq!(conversation.invoke("Hi!").await?.text(), "Hello.");
    /// assert_eq!(conversation.messages()[1].text(), Some("Hello."));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error`]; the conversation stays well-formed.
    pub async fn invoke(&mut self, prompt: impl Into<Content>) -> Result<Answer, Error> {
        answered(self.run(prompt).await?)
    }

    /// A run of this prompt, to be configured and then awaited or streamed.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
    /// let mut conversation = agent.conversation();
    /// let outcome = conversation.run("Go.").budget(Budget::new().max_steps(3)).await?;
    /// assert_eq!(outcome.answer().map(Answer::text), Some("done"));
    /// assert_eq!(conversation.messages().len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn run(&mut self, prompt: impl Into<Content>) -> RunBuilder<'_> {
        let session = self.place.name.clone();
        RunBuilder::new(Arc::clone(&self.agent), prompt.into(), Some(&mut self.place)).session(session)
    }

    /// Takes the run up that the conversation waits for.
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
    /// let mut conversation = agent.conversation_id("ada").await?;
    /// let Outcome::Interrupted(waits_for) = conversation.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
    ///
    /// // In another process: the conversation knows its open run.
    /// let mut conversation = agent.conversation_id("ada").await?;
    /// assert_eq!(conversation.open_run().map(|run_id| run_id.as_str()), Some("r-1"));
    /// conversation.resume("r-1").approve(&waits_for).await?;
    /// assert_eq!(conversation.open_run(), None);
    /// # Ok(())
    /// # }
    /// ```
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
