//! What a run writes down, one record a commit.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::Change;
use crate::durable::RunState;
use crate::event::HookEffect;
use crate::fingerprint::{ContractChange, ContractFingerprint};
use crate::hook::Stage;
use crate::ids::{ActionId, RunId};
use crate::message::{ToolCall, ToolOutcome};
use crate::model::ReportedReply;
use crate::outcome::Interruption;
use crate::receipt::Receipt;
use crate::rules::{Budget, Spent};
use crate::run_context::RunContext;
use crate::value::SharedValue;

/// One commit of a run: what is new since the last.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// # use serde_json::json;
/// use protolink::durable::Record;
/// # /// Search the catalogue.
/// # #[tool]
/// # fn search(query: String) -> String { query }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedModel::new([Reply::text("done")]);
/// # let agent = Agent::builder("a").model(model).tools(tools![search]).durable(MemoryStore::new()).build()?;
/// # agent.run("Go.").run_id("r-1").await?;
/// for record in agent.journal("r-1").await? {
///     match record {
///         Record::Replied(replied) => println!("step {}: {} calls", replied.step, replied.calls.len()),
///         Record::Receipted { receipt, .. } => println!("{} ran: {:?}", receipt.tool, receipt.result()),
///         Record::Completed { content, .. } => assert_eq!(content, json!("done")),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Record {
    /// The run began. One model request is reserved with it.
    Started(Box<Started>),
    /// The model replied: committed before the reply is refused, corrected, dispatched or checked.
    Replied(Box<Replied>),
    /// A tool ended, or its result was reconciled: committed before `after_tool`.
    Receipted {
        /// What really happened.
        receipt: Receipt,
        /// What the run spent so far.
        spent: Spent,
    },
    /// A person decided about a call.
    Decided(Decided),
    /// Calls that were allowed are about to be dispatched.
    Dispatched {
        /// Their actions.
        actions: Vec<ActionId>,
        /// What the run spent so far.
        spent: Spent,
    },
    /// A worker took the run up again. It reserves one model request, in place of one that may be lost.
    Resumed(Box<Resumed>),
    /// The run gave its answer.
    Completed {
        /// The validated answer.
        content: SharedValue,
        /// What the conversation gained since the last commit.
        delta: Vec<Change>,
        /// What hooks did since the last commit.
        hooks: Vec<HookRecord>,
        /// What the run spent.
        spent: Spent,
    },
    /// The run failed; a resume may take it up again.
    Failed {
        /// What the error says.
        error: String,
        /// How the conversation is closed, if it goes on without a resume.
        closing: Vec<Change>,
        /// Actions that were to be dispatched, and were not.
        not_started: Vec<ActionId>,
        /// What hooks did since the last commit.
        hooks: Vec<HookRecord>,
        /// What the run spent.
        spent: Spent,
    },
    /// The run was cancelled.
    Cancelled {
        /// How the conversation is closed.
        closing: Vec<Change>,
        /// What the run spent.
        spent: Spent,
    },
}

/// How a run began.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// # use serde_json::json;
/// use protolink::durable::{Record, Task};
/// # /// Search the catalogue.
/// # #[tool]
/// # fn search(query: String) -> String { query }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedModel::new([Reply::text("done")]);
/// # let agent = Agent::builder("a").model(model).tools(tools![search]).durable(MemoryStore::new()).build()?;
/// # agent.run("Go.").run_id("r-1").await?;
/// let journal = agent.journal("r-1").await?;
/// let Some(Record::Started(started)) = journal.first() else { panic!("every run begins so") };
/// assert_eq!((&started.task, started.context.agent()), (&Task::Answer, "a"));
/// assert_eq!(&started.contract, agent.fingerprint());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Started {
    /// What the agent was.
    pub contract: ContractFingerprint,
    /// Facts about the run.
    pub context: RunContext,
    /// The run whose conversation this one continues.
    pub continues: Option<RunId>,
    /// What is to be done.
    pub task: Task,
    /// What the conversation gained: the prompt.
    pub delta: Vec<Change>,
    /// The limits.
    pub budget: Budget,
    /// The JSON Schema of the answer, where a type was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_schema: Option<Arc<Value>>,
}

/// What a run is to do.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// # use serde_json::json;
/// use protolink::durable::{Record, Task};
/// # /// Search the catalogue.
/// # #[tool]
/// # fn search(query: String) -> String { query }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedModel::new([Reply::text("done")]);
/// # let agent = Agent::builder("a").model(model).tools(tools![search]).durable(MemoryStore::new()).build()?;
/// # agent.run("Go.").run_id("r-1").await?;
/// let journal = agent.journal("r-1").await?;
/// let Some(Record::Started(started)) = journal.first() else { panic!("every run begins so") };
/// match &started.task {
///     Task::Answer => println!("it answers a prompt"),
///     Task::CallTool { tool, .. } => println!("it calls `{tool}`, and nothing else"),
///     _ => {}
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Task {
    /// Answer the prompt.
    Answer,
    /// Call one tool, outside of the loop.
    CallTool {
        /// The tool.
        tool: String,
        /// The arguments.
        arguments: Value,
        /// What becomes of the call at first.
        call: Box<CallRecord>,
    },
}

/// What the model replied, and what is to become of it.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// # use serde_json::json;
/// use protolink::durable::Record;
/// # /// Search the catalogue.
/// # #[tool]
/// # fn search(query: String) -> String { query }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedModel::new([Reply::call("search", json!({ "query": "desk" })), Reply::text("done")]);
/// # let agent = Agent::builder("a").model(model).tools(tools![search]).durable(MemoryStore::new()).build()?;
/// # agent.run("Go.").run_id("r-1").await?;
/// let journal = agent.journal("r-1").await?;
/// let Some(Record::Replied(replied)) = journal.get(1) else { panic!("the model replied") };
/// assert_eq!((replied.step, &replied.roster[..]), (1, &["search".to_owned()][..]));
/// assert_eq!(replied.reply.tool_calls()[0].arguments, json!({ "query": "desk" }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Replied {
    /// The step, counted from 1.
    pub step: u32,
    /// What the conversation gained since the last commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delta: Vec<Change>,
    /// What hooks did since the last commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookRecord>,
    /// The tools of the step (contract M10).
    pub roster: Vec<String>,
    /// Whether the request held something else than the conversation as it is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sent_otherwise: bool,
    /// The reply.
    pub reply: ReportedReply,
    /// What becomes of each call, in the order of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallRecord>,
    /// What the run waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruption: Option<Interruption>,
    /// What the run spent so far.
    pub spent: Spent,
    /// How many calls were refused so far.
    #[serde(default, skip_serializing_if = "is_default")]
    pub corrections: u32,
    /// Answers that were sent back, and are still shown to the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<Revision>,
    /// How often an answer was sent back so far.
    #[serde(default, skip_serializing_if = "is_default")]
    pub revisions_made: u32,
}

/// What becomes of one call.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// # use serde_json::json;
/// use protolink::durable::{CallState, Record};
/// # /// Search the catalogue.
/// # #[tool]
/// # fn search(query: String) -> String { query }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedModel::new([Reply::call("search", json!({ "query": "desk" })), Reply::text("done")]);
/// # let agent = Agent::builder("a").model(model).tools(tools![search]).durable(MemoryStore::new()).build()?;
/// # agent.run("Go.").run_id("r-1").await?;
/// let journal = agent.journal("r-1").await?;
/// let Some(Record::Replied(replied)) = journal.get(1) else { panic!("the model replied") };
/// let call = &replied.calls[0];
/// assert_eq!((call.call.name.as_str(), &call.state), ("search", &CallState::Intended));
/// assert_eq!(call.action_id.as_str(), "r-1/1/0");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallRecord {
    /// The action that it is.
    pub action_id: ActionId,
    /// The call, with arguments as they are dispatched.
    pub call: ToolCall,
    /// Where it stands.
    pub state: CallState,
}

/// Where a call stands.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// # use serde_json::json;
/// use protolink::durable::{CallState, Record};
/// # /// Search the catalogue.
/// # #[tool]
/// # fn search(query: String) -> String { query }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedModel::new([Reply::call("serach", json!({})), Reply::text("done")]);
/// # let agent = Agent::builder("a").model(model).tools(tools![search]).durable(MemoryStore::new()).build()?;
/// # agent.run("Go.").run_id("r-1").await?;
/// let journal = agent.journal("r-1").await?;
/// let Some(Record::Replied(replied)) = journal.get(1) else { panic!("the model replied") };
/// assert!(matches!(replied.calls[0].state, CallState::Refused(_)), "there is no tool of this name");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// It is refused; nothing is done.
    Refused(ToolOutcome),
    /// A person must say yes.
    AwaitsApproval,
    /// A person must answer.
    AwaitsAnswer,
    /// It is allowed, and waits for others of its turn.
    Allowed,
    /// It is about to be dispatched: the intent.
    Intended,
    /// It ended; this is its receipt.
    Done(Arc<Receipt>),
}

/// An answer that was sent back to the model.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// use protolink::durable::Record;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::text("It is so."), Reply::text("It is so [1].")]);
/// let agent = Agent::builder("a")
///     .model(model)
///     .before_complete("cite", |response: &mut FinalResponse<'_>| {
///         if !response.text().unwrap_or_default().contains("[1]") {
///             response.ask_revision("Cite your source as [1].");
///         }
///     })
///     .max_revisions(1)
///     .durable(MemoryStore::new())
///     .build()?;
/// agent.run("Is it so?").run_id("r-1").await?;
/// let journal = agent.journal("r-1").await?;
/// let Some(Record::Replied(second)) = journal.get(2) else { panic!("it replied twice") };
/// assert_eq!(second.revisions[0].candidate, "It is so.");
/// assert_eq!(second.revisions[0].feedback, "Cite your source as [1].");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Revision {
    /// The answer.
    pub candidate: String,
    /// What the model is told about it.
    pub feedback: String,
    /// How many messages the conversation had then.
    pub position: usize,
}

/// What a person decided.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// use protolink::durable::{CallState, Record};
/// # /// Give money back.
/// # #[tool(capability = "money")]
/// # fn refund(cents: u64) -> String { format!("{cents} cents") }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
/// # let agent = Agent::builder("clerk")
/// #     .model(model)
/// #     .tools(tools![refund])
/// #     .policy(CapabilityPolicy::new().require_approval("money"))
/// #     .durable(MemoryStore::new())
/// #     .build()?;
/// # let Outcome::Interrupted(waits_for) = agent.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
/// # agent.resume("r-1").approve(&waits_for).await?;
/// let journal = agent.journal("r-1").await?;
/// let decided = journal.iter().find_map(|record| match record {
///     Record::Decided(decided) => Some(decided),
///     _ => None,
/// });
/// assert_eq!(decided.map(|decided| &decided.state), Some(&CallState::Allowed), "a person said yes");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Decided {
    /// The action.
    pub action_id: ActionId,
    /// Where the call stands now.
    pub state: CallState,
    /// What the run waits for next.
    pub interruption: Option<Interruption>,
    /// How many calls were refused so far.
    pub corrections: u32,
    /// What the run spent so far.
    pub spent: Spent,
}

/// How a run was taken up again.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// use protolink::durable::Record;
/// # /// Give money back.
/// # #[tool(capability = "money")]
/// # fn refund(cents: u64) -> String { format!("{cents} cents") }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
/// # let agent = Agent::builder("clerk")
/// #     .model(model)
/// #     .tools(tools![refund])
/// #     .policy(CapabilityPolicy::new().require_approval("money"))
/// #     .durable(MemoryStore::new())
/// #     .build()?;
/// # let Outcome::Interrupted(waits_for) = agent.run("Refund it.").run_id("r-1").await? else { return Ok(()) };
/// # agent.resume("r-1").approve(&waits_for).await?;
/// let journal = agent.journal("r-1").await?;
/// let resumed = journal.iter().find_map(|record| match record {
///     Record::Resumed(resumed) => Some(resumed),
///     _ => None,
/// });
/// assert!(resumed.is_some_and(|resumed| resumed.accepted.is_empty()), "nothing had changed");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Resumed {
    /// What changed in the agent and was accepted (contract D9).
    pub accepted: Vec<ContractChange>,
    /// What the agent is now, where something changed.
    pub contract: Option<ContractFingerprint>,
    /// The new limits.
    pub budget: Option<Budget>,
    /// What the run spent so far, the lost request among it.
    pub spent: Spent,
}

/// What one hook did, without payload.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// use protolink::Stage;
/// use protolink::durable::Record;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a")
///     .model(ScriptedModel::new([Reply::text("done")]))
///     .before_model("be_brief", |request: &mut ModelRequest<'_>| {
///         request.history().append_system("Be brief.")
///     })
///     .durable(MemoryStore::new())
///     .build()?;
/// agent.run("Go.").run_id("r-1").await?;
/// let journal = agent.journal("r-1").await?;
/// let Some(Record::Replied(replied)) = journal.get(1) else { panic!("the model replied") };
/// let hook = &replied.hooks[0];
/// assert_eq!(
///     (hook.stage, hook.hook.as_str(), hook.changes),
///     (Stage::BeforeModel, "be_brief", 1)
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookRecord {
    /// The stage.
    pub stage: Stage,
    /// The hook's name.
    pub hook: String,
    /// The step, counted from 1.
    pub step: u32,
    /// How many changes it made.
    pub changes: usize,
    /// What they amount to.
    pub effect: HookEffect,
}

impl Record {
    /// The state in which this record leaves its run; `waits` says whether a person was asked and has not answered. A
    /// store begins each run as a running one.
    pub(crate) fn state(&self, waits: bool) -> RunState {
        match self {
            Self::Replied(replied) if replied.interruption.is_some() => RunState::Paused,
            Self::Decided(decided) if decided.interruption.is_some() => RunState::Paused,
            Self::Completed { .. } => RunState::Completed,
            Self::Failed { .. } => RunState::Failed,
            Self::Cancelled { .. } => RunState::Cancelled,
            Self::Resumed(_) if waits => RunState::Paused,
            _ => RunState::Running,
        }
    }
}

impl CallState {
    /// Whether a person is waited for.
    pub(crate) fn waits(&self) -> bool {
        matches!(self, Self::AwaitsApproval | Self::AwaitsAnswer)
    }
}

/// Whether a field says nothing, so that it need not be written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
