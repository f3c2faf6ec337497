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
