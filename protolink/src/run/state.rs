//! Where a run stands.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::events::Events;
use crate::change::{Change, Scope};
use crate::durable::journal::{CallRecord, HookRecord, Journal, Record, Revision};
use crate::error::Error;
use crate::hook::StepDraft;
use crate::ids::RunId;
use crate::message::{Message, ToolOutcome};
use crate::model::Usage;
use crate::outcome::{Answer, Interruption};
use crate::receipt::Receipt;
use crate::rules::{Budget, BudgetLimit, Spent};
use crate::run_context::RunContext;
use crate::settings::{AgentInner, AnswerSpec};

/// One run, between two of its awaits.
pub(crate) struct Run {
    pub(super) agent: Arc<AgentInner>,
    /// The authority's own copy of what hooks are shown; nothing reads it back from them (contract M11).
    pub(super) context: Arc<RunContext>,
    pub(super) draft: StepDraft,
    pub(super) phase: Phase,
    /// What a person was asked, and has not answered.
    pub(super) pending: Option<Interruption>,
    pub(super) step: u32,
    pub(super) budget: Budget,
    pub(super) spent: Spent,
    pub(super) time: Stopwatch,
    pub(super) corrections: u32,
    /// Answers that were sent back since the last accepted one.
    pub(super) revisions: Vec<Revision>,
    pub(super) revisions_made: u32,
    pub(super) answer: Option<AnswerSpec>,
    pub(super) receipts: Vec<Arc<Receipt>>,
    /// What the conversation gained since the last commit, and keeps.
    pub(super) delta: Vec<Change>,
    /// What hooks edited in this step; it is kept when the model's reply is.
    pub(super) step_delta: Vec<Change>,
    /// What hooks did since the last commit; kept where there is a journal.
    pub(super) hook_log: Vec<HookRecord>,
    pub(super) journal: Option<Journal>,
    pub(super) events: Events,
    pub(super) cancel: CancellationToken,
    /// Whether text is held back until it is checked.
    pub(super) hold_output: bool,
    /// Whether text was shown at this step.
    pub(super) shown: bool,
}

/// What comes next.
pub(super) enum Phase {
    /// A step is to be prepared.
    Prepare,
    /// Calls are to be decided, dispatched and answered.
    Calls(PendingTurn),
    /// An answer is to be checked.
    Answer(PendingAnswer),
    /// The run gave this answer.
    Ended(Answer),
}

/// A turn of the model whose calls are not all answered yet. It enters the history when they are (contract M12).
pub(super) struct PendingTurn {
    pub(super) text: Option<String>,
    pub(super) provider: Option<Value>,
    pub(super) calls: Vec<CallRecord>,
    /// What the model will see of the calls, as far as hooks shaped it.
    pub(super) shaped: Vec<ToolOutcome>,
    /// The calls that were handed to their tools in this process.
    pub(super) started: Vec<bool>,
    /// Whether it is a direct call, which is not part of a conversation (contract S8).
    pub(super) direct: bool,
}

impl PendingTurn {
    pub(super) fn new(text: Option<String>, provider: Option<Value>, calls: Vec<CallRecord>) -> Self {
        let started = vec![false; calls.len()];
        Self { text, provider, calls, shaped: Vec::new(), started, direct: false }
    }

    pub(super) fn direct(call: CallRecord) -> Self {
        Self { direct: true, ..Self::new(None, None, vec![call]) }
    }
}

/// A proposed answer that is not checked yet.
pub(super) struct PendingAnswer {
    pub(super) text: String,
    pub(super) provider: Option<Value>,
}

/// How long a run ran: a pause does not count (contract P2).
pub(super) struct Stopwatch {
    before: Duration,
    since: Instant,
}

impl Stopwatch {
    pub(super) fn after(before: Duration) -> Self {
        Self { before, since: Instant::now() }
    }

    pub(super) fn read(&self) -> Duration {
        self.before.saturating_add(self.since.elapsed())
    }
}

impl Run {
    pub(super) fn id(&self) -> &RunId {
        &self.context.run_id
    }

    pub(super) fn usage(&self) -> Usage {
        Usage::new(self.spent.input_tokens, self.spent.output_tokens)
    }

    pub(super) fn check_cancelled(&self) -> Result<(), Error> {
        if self.cancel.is_cancelled() { Err(self.cancelled()) } else { Ok(()) }
    }

    pub(super) fn cancelled(&self) -> Error {
        Error::Cancelled { run_id: self.id().clone(), step: self.step }
    }

    /// What was spent, with the time until now.
    pub(super) fn spent_now(&mut self) -> &Spent {
        self.spent.wall_time = self.time.read();
        &self.spent
    }

    pub(super) fn over_budget(&self, limit: BudgetLimit) -> Error {
        Error::Budget { run_id: self.id().clone(), step: self.step, limit }
    }

    /// Notes what a hook edited; it rides along with the commit of the reply.
    pub(super) fn gain(&mut self, changes: Vec<Change>) {
        self.step_delta.extend(changes.into_iter().filter(|change| change.scope() == Some(Scope::History)));
    }

    /// Adds a message that stays, whatever becomes of the next step.
    pub(super) fn keep(&mut self, message: Message) {
        let change = self.draft.history.record_push(Arc::new(message));
        self.draft.history.commit();
        self.delta.push(change);
    }

    /// Commits what was done since the last commit. Without a journal, memory is the commit.
    ///
    /// The record is made only where it is written.
    pub(super) async fn commit(&mut self, record: impl FnOnce(&mut Self) -> Record) -> Result<(), Error> {
        let record = if self.journal.is_some() { Some(record(self)) } else { None };
        self.commit_record(record).await
    }

    /// The same, where the record was made before: there is one where there is a journal.
    pub(super) async fn commit_record(&mut self, record: Option<Record>) -> Result<(), Error> {
        if let Some(record) = record
            && let Some(journal) = &mut self.journal
        {
            let state = record.state(self.pending.is_some());
            journal.append_as(&record, state).await?;
        }
        self.delta.clear();
        self.step_delta.clear();
        self.hook_log.clear();
        self.draft.history.commit();
        Ok(())
    }
}
