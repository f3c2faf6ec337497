//! What a run writes down, one record a commit, and the hand that writes it (contract D1).

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Lease, NewRun, Row, RunState, RunStore, StoreError, StoredRun};
use crate::change::Change;
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

/// The version of the records that this crate writes, and the newest that it reads.
pub const JOURNAL_VERSION: u32 = 1;

/// One commit of a run: what is new since the last.
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
    /// The state in which this record leaves its run; `waits` says whether a person was asked and has not answered.
    pub(crate) fn state(&self, waits: bool) -> RunState {
        match self {
            Self::Replied(replied) if replied.interruption.is_some() => RunState::Paused,
            Self::Started(started) if matches!(&started.task, Task::CallTool { call, .. } if call.state.waits()) => {
                RunState::Paused
            }
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

/// The hand that writes a run's journal, under its lease.
pub(crate) struct Journal {
    store: Arc<dyn RunStore>,
    lease: Lease,
    sequence: u64,
    ttl: Duration,
    released: bool,
}

impl Journal {
    /// Begins a run with its first record.
    pub(crate) async fn create(
        store: Arc<dyn RunStore>,
        run: NewRun,
        record: &Record,
        ttl: Duration,
    ) -> Result<Self, StoreError> {
        let row = encode(&run.run_id, 1, record)?;
        let lease = store.create(run, row, ttl).await?;
        Ok(Self { store, lease, sequence: 1, ttl, released: false })
    }

    /// Takes a run over: nobody else can commit to it from here on.
    pub(crate) async fn acquire(
        store: Arc<dyn RunStore>,
        run_id: &RunId,
        ttl: Duration,
    ) -> Result<(Self, Vec<Record>), StoreError> {
        let lease = store.acquire(run_id, ttl).await?;
        let mut journal = Self { store, lease, sequence: 0, ttl, released: false };
        let records = match journal.store.load(run_id).await {
            Ok(stored) => {
                journal.sequence = stored.summary.rows;
                decode(&stored)
            }
            Err(error) => Err(error),
        };
        match records {
            Ok(records) => Ok((journal, records)),
            Err(error) => {
                journal.release().await;
                Err(error)
            }
        }
    }

    /// Commits a record.
    pub(crate) async fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        self.append_as(record, record.state(false)).await
    }

    /// Commits a record that leaves the run in this state.
    pub(crate) async fn append_as(&mut self, record: &Record, state: RunState) -> Result<(), StoreError> {
        let row = encode(self.lease.run_id(), self.sequence + 1, record)?;
        self.store.append(&self.lease, row, state).await?;
        self.sequence += 1;
        Ok(())
    }

    /// How many rows the run has.
    pub(crate) fn rows(&self) -> u64 {
        self.sequence
    }

    /// Gives the run back, so that it can be taken over at once.
    pub(crate) async fn release(&mut self) {
        if !self.released {
            self.released = true;
            // Where this fails the lease runs out by itself.
            let _ = self.store.release(self.lease.clone()).await;
        }
    }

    /// Lives as long as the run does, and renews the lease; it ends when the lease is lost.
    pub(crate) fn keep_alive(&self) -> impl Future<Output = ()> + Send + use<> {
        let (store, mut lease, ttl) = (Arc::clone(&self.store), self.lease.clone(), self.ttl);
        async move {
            loop {
                tokio::time::sleep(ttl / 3).await;
                match store.renew(&lease, ttl).await {
                    Ok(renewed) => lease = renewed,
                    // The next append will say so.
                    Err(StoreError::LeaseLost { .. }) => return,
                    // A store that is locked or full now may not be so in a moment.
                    Err(error) => tracing::warn!(run_id = %lease.run_id(), %error, "the lease could not be renewed"),
                }
            }
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A dropped run equals a crash, except that its lease is given back as far as that is possible (contract S7).
        if !self.released
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (store, lease) = (Arc::clone(&self.store), self.lease.clone());
            runtime.spawn(async move { store.release(lease).await });
        }
    }
}

/// Whether a field says nothing, so that it need not be written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn encode(run_id: &RunId, sequence: u64, record: &Record) -> Result<Row, StoreError> {
    let unwritable = |reason: String| StoreError::Damaged {
        run_id: run_id.clone(),
        sequence: Some(sequence),
        reason: format!("the record cannot be written: {reason}"),
    };
    // As long as most records are, so that a step's rows do not grow byte by byte.
    let mut payload = Vec::with_capacity(1024);
    serde_json::to_writer(&mut payload, record).map_err(|error| unwritable(error.to_string()))?;
    let payload = String::from_utf8(payload).map_err(|error| unwritable(error.to_string()))?;
    Ok(Row::new(run_id, sequence, JOURNAL_VERSION, payload))
}

/// Reads what a run wrote down, whether it goes on or has ended: one [`Record`] a commit.
///
/// Nothing is taken over and nothing is changed. The records hold the true results of tools, and answers that were
/// refused: show them to those who may see these.
///
/// ```
/// use protolink::durable::{self, MemoryStore, Record};
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).durable(store.clone()).build()?;
/// let answer = agent.invoke("go").await?;
/// let records = durable::journal(&store, answer.run_id()).await?;
/// assert!(matches!(records[..], [Record::Started(_), Record::Replied(_), Record::Completed { .. }]));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`StoreError::NotFound`]; [`StoreError`] as for [`decode`] (contract D8).
pub async fn journal(store: &(impl RunStore + ?Sized), run_id: &RunId) -> Result<Vec<Record>, StoreError> {
    decode(&store.load(run_id).await?)
}

/// Reads the records of a stored run.
///
/// # Errors
/// [`StoreError`] when a row is missing, damaged, or of a newer version; it names the run and the row (contract D8).
pub fn decode(stored: &StoredRun) -> Result<Vec<Record>, StoreError> {
    let run_id = &stored.summary.run_id;
    for row in &stored.rows {
        if row.version > JOURNAL_VERSION {
            return Err(StoreError::NewerVersion {
                run_id: run_id.clone(),
                sequence: row.sequence,
                found: row.version,
                supported: JOURNAL_VERSION,
            });
        }
    }
    stored.verify()?;
    let read = |row: &Row| {
        serde_json::from_str(&row.payload).map_err(|_| StoreError::Damaged {
            run_id: run_id.clone(),
            sequence: Some(row.sequence),
            // The parser's own text would hold a part of the content.
            reason: "the row is no record of this version".to_owned(),
        })
    };
    stored.rows.iter().map(read).collect()
}
