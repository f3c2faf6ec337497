//! From a journal's records to where the run stands.

use std::sync::Arc;

use crate::change::Change;
use crate::durable::StoreError;
use crate::durable::journal::{CallRecord, CallState, Record, Replied, Revision, Task};
use crate::fingerprint::ContractFingerprint;
use crate::history::HistoryDraft;
use crate::ids::{ActionId, RunId};
use crate::model::{ReportedReply, Usage};
use crate::outcome::{Answer, Interruption};
use crate::receipt::{Receipt, ReceiptOutcome};
use crate::rules::{Budget, Spent};
use crate::run::state::{PendingAnswer, PendingTurn};
use crate::run_context::RunContext;
use crate::value::SharedValue;

/// Where a stored run stands after its last commit.
pub(super) struct Stood {
    pub(super) context: RunContext,
    pub(super) contract: ContractFingerprint,
    pub(super) continues: Option<RunId>,
    pub(super) budget: Budget,
    pub(super) answer_schema: Option<Arc<serde_json::Value>>,
    /// What the conversation gained, in order.
    pub(super) delta: Vec<Change>,
    pub(super) step: u32,
    pub(super) spent: Spent,
    pub(super) corrections: u32,
    pub(super) revisions: Vec<Revision>,
    pub(super) revisions_made: u32,
    pub(super) roster: Option<Vec<String>>,
    pub(super) sent_otherwise: bool,
    pub(super) receipts: Vec<Arc<Receipt>>,
    pub(super) pending: Option<Interruption>,
    pub(super) at: At,
    pub(super) end: Option<End>,
}

/// What the run was about to do.
pub(super) enum At {
    Prepare,
    Calls(PendingTurn),
    Answer(PendingAnswer),
}

/// How the run ended, if it did.
pub(super) enum End {
    Completed(SharedValue),
    /// It can be taken up again; or its conversation goes on with this.
    Failed {
        closing: Vec<Change>,
    },
    Cancelled {
        closing: Vec<Change>,
    },
}

/// Folds the records of one run.
///
/// # Errors
/// [`StoreError::Damaged`] where a record does not follow from those before it.
pub(super) fn fold(run_id: &RunId, records: Vec<Record>) -> Result<Stood, StoreError> {
    let mut stood: Option<Stood> = None;
    for (sequence, record) in (1..).zip(records) {
        let done = match (&mut stood, record) {
            (None, Record::Started(started)) => {
                let at = match started.task {
                    Task::Answer => At::Prepare,
                    Task::CallTool { call, .. } => At::Calls(PendingTurn::direct(*call)),
                };
                stood = Some(Stood {
                    context: started.context,
                    contract: started.contract,
                    continues: started.continues,
                    budget: started.budget,
                    answer_schema: started.answer_schema,
                    delta: started.delta,
                    step: 0,
                    spent: Spent::default(),
                    corrections: 0,
                    revisions: Vec::new(),
                    revisions_made: 0,
                    roster: None,
                    sent_otherwise: false,
                    receipts: Vec::new(),
                    pending: None,
                    at,
                    end: None,
                });
                Ok(())
            }
            (Some(stood), record) => stood.apply(record),
            (None, _) => Err("the run does not begin with its start"),
        };
        done.map_err(|reason| damaged(run_id, sequence, reason))?;
    }
    stood.ok_or_else(|| damaged(run_id, 1, "the run has no records"))
}

pub(super) fn damaged(run_id: &RunId, sequence: u64, reason: &str) -> StoreError {
    StoreError::Damaged { run_id: run_id.clone(), sequence: Some(sequence), reason: reason.to_owned() }
}

impl Stood {
    fn apply(&mut self, record: Record) -> Result<(), &'static str> {
        match record {
            Record::Started(_) => return Err("the run begins twice"),
            Record::Replied(replied) => self.replied(*replied)?,
            Record::Receipted { receipt, spent } => {
                let receipt = Arc::new(receipt);
                self.call(&receipt.action_id)?.state = CallState::Done(Arc::clone(&receipt));
                // A tool that refuses what it was asked is a correction, as a refusal before it is (contract D10).
                self.corrections += u32::from(matches!(receipt.outcome, ReceiptOutcome::Rejected(_)));
                self.receive(receipt);
                self.spent = spent;
            }
            Record::Decided(decided) => {
                if let CallState::Done(receipt) = &decided.state {
                    self.receive(Arc::clone(receipt));
                }
                self.call(&decided.action_id)?.state = decided.state;
                self.pending = decided.interruption;
                self.corrections = decided.corrections;
                self.spent = decided.spent;
            }
            Record::Dispatched { actions, spent } => {
                for action in &actions {
                    self.call(action)?.state = CallState::Intended;
                }
                self.spent = spent;
            }
            Record::Resumed(resumed) => {
                self.end = None;
                if let Some(contract) = resumed.contract {
                    self.contract = contract;
                }
                if let Some(budget) = resumed.budget {
                    self.budget = budget;
                }
                self.spent = resumed.spent;
            }
            Record::Completed { content, delta, spent, .. } => {
                self.delta.extend(delta);
                self.spent = spent;
                self.end = Some(End::Completed(content));
            }
            Record::Failed { closing, not_started, spent, .. } => {
                for action in &not_started {
                    self.call(action)?.state = CallState::Allowed;
                }
                // A step that failed before its reply is made again under its number.
                let steps = self.spent.steps;
                self.spent = spent;
                self.spent.steps = steps;
                self.spent.tool_calls =
                    self.spent.tool_calls.saturating_sub(u32::try_from(not_started.len()).unwrap_or(0));
                self.end = Some(End::Failed { closing });
            }
            Record::Cancelled { closing, spent } => {
                self.spent = spent;
                self.end = Some(End::Cancelled { closing });
            }
        }
        Ok(())
    }

    fn replied(&mut self, replied: Replied) -> Result<(), &'static str> {
        if replied.step != self.step + 1 {
            return Err("a step is missing");
        }
        self.step = replied.step;
        self.delta.extend(replied.delta);
        self.roster = Some(replied.roster);
        self.sent_otherwise = replied.sent_otherwise;
        self.spent = replied.spent;
        self.corrections = replied.corrections;
        self.revisions = replied.revisions;
        self.revisions_made = replied.revisions_made;
        self.pending = replied.interruption;
        self.at = if replied.calls.is_empty() {
            let (text, provider) = replied.reply.into_answer();
            At::Answer(PendingAnswer { text, provider })
        } else {
            let (text, provider) = beside_calls(replied.reply);
            At::Calls(PendingTurn::new(text, provider, replied.calls))
        };
        Ok(())
    }

    /// Keeps a receipt, in place of an earlier one of the same action.
    fn receive(&mut self, receipt: Arc<Receipt>) {
        // Only a receipt of the turn that is under way can be replaced.
        let turn = if let At::Calls(turn) = &self.at { turn.calls.len() } else { 0 };
        let mut latest = self.receipts.iter_mut().rev().take(turn);
        if let Some(earlier) = latest.find(|earlier| earlier.action_id == receipt.action_id) {
            *earlier = receipt;
        } else {
            self.receipts.push(receipt);
        }
    }

    fn call(&mut self, action: &ActionId) -> Result<&mut CallRecord, &'static str> {
        let At::Calls(turn) = &mut self.at else { return Err("a call is answered that was not made") };
        let call = turn.calls.iter_mut().find(|call| call.action_id == *action);
        call.ok_or("a call is answered that was not made")
    }

    /// Whether the process may have died in the middle of a model request, which then counts as spent.
    ///
    /// `may_send_back` says whether an answer can go back to the model, which is a request too.
    pub(super) fn may_have_lost_a_request(&self, may_send_back: bool) -> bool {
        let asks_next = match &self.at {
            At::Prepare => true,
            At::Answer(_) => may_send_back,
            At::Calls(turn) => {
                let settled = |call: &CallRecord| matches!(call.state, CallState::Done(_) | CallState::Refused(_));
                !turn.direct && turn.calls.iter().all(settled)
            }
        };
        self.end.is_none() && asks_next
    }

    /// The answer that the run gave, if it gave one.
    pub(super) fn answer(&self) -> Option<Answer> {
        let Some(End::Completed(content)) = &self.end else { return None };
        let usage = Usage::new(self.spent.input_tokens, self.spent.output_tokens);
        Some(Answer::new(self.context.run_id.clone(), content.clone(), usage, self.step))
    }

    /// The first action that was started and of which nobody knows what came.
    pub(super) fn uncertain(&self, is_idempotent: impl Fn(&str) -> bool) -> Option<&CallRecord> {
        let At::Calls(turn) = &self.at else { return None };
        turn.calls.iter().find(|record| match &record.state {
            CallState::Intended => !is_idempotent(&record.call.name),
            CallState::Done(receipt) => matches!(receipt.outcome, ReceiptOutcome::Unkept(_)),
            _ => false,
        })
    }

    /// The action of this name, where it waits to be reconciled.
    pub(super) fn reconcilable(&self, action: &ActionId) -> Option<&CallRecord> {
        let At::Calls(turn) = &self.at else { return None };
        turn.calls.iter().find(|record| {
            record.action_id == *action
                && match &record.state {
                    CallState::Intended => true,
                    CallState::Done(receipt) => matches!(receipt.outcome, ReceiptOutcome::Unkept(_)),
                    _ => false,
                }
        })
    }

    /// Puts what the conversation gained onto the history that the run continues.
    pub(super) fn replay(&self, draft: &mut HistoryDraft) -> Result<(), StoreError> {
        replay(&self.context.run_id, &self.delta, draft)
    }
}

/// Makes recorded edits again.
pub(super) fn replay(run_id: &RunId, changes: &[Change], draft: &mut HistoryDraft) -> Result<(), StoreError> {
    if changes.iter().all(|change| draft.replay(change)) {
        Ok(())
    } else {
        Err(damaged(run_id, 1, "an edit of the conversation does not fit it"))
    }
}

fn beside_calls(reply: ReportedReply) -> (Option<String>, Option<serde_json::Value>) {
    match reply.content {
        crate::model::ReplyContent::Calls { text, .. } => (text, reply.provider),
        crate::model::ReplyContent::Final(text) => (Some(text), reply.provider),
    }
}
