//! Putting a run where its journal says it stands, and committing that it goes on.

use std::sync::Arc;

use serde_json::Value;

use super::builder::Response;
use super::fold::{At, Stood};
use crate::durable::journal::{CallState, Journal, Record, Resumed};
use crate::error::Error;
use crate::fingerprint::ContractChange;
use crate::message::ToolOutcome;
use crate::outcome::Interruption;
use crate::receipt::{Receipt, ReceiptOutcome};
use crate::roster::{Roster, RosterDraft};
use crate::rules::Budget;
use crate::run::state::{Phase, Run, Stopwatch};

impl Run {
    /// Puts the run where the journal says it stands, and lets it write on.
    pub(super) fn stand_at(&mut self, stood: Stood, journal: Journal) {
        self.stand(stood);
        self.journal = Some(journal);
    }

    /// Puts the run where the journal says it stands.
    pub(super) fn stand(&mut self, stood: Stood) {
        if let Some(roster) = &stood.roster {
            // M10: the pending action runs under the roster that it was made under.
            self.draft.roster = RosterDraft::new(Roster::restricted(&self.agent.specs, roster));
        }
        if stood.sent_otherwise {
            self.draft.history.lose_sent();
        }
        self.step = stood.step;
        self.time = Stopwatch::after(stood.spent.wall_time);
        self.spent = stood.spent;
        self.corrections = stood.corrections;
        self.revisions = stood.revisions;
        self.revisions_made = stood.revisions_made;
        self.receipts = stood.receipts;
        self.pending = stood.pending;
        self.phase = match stood.at {
            At::Prepare => Phase::Prepare,
            At::Answer(answer) => Phase::Answer(answer),
            At::Calls(mut turn) => {
                // What was intended before may have been started before: nothing may say that it was not.
                for (started, call) in turn.started.iter_mut().zip(&turn.calls) {
                    *started = call.state == CallState::Intended;
                }
                Phase::Calls(turn)
            }
        };
    }

    /// Commits that the run goes on. A model request that may have been lost counts as spent, and so does a call that is
    /// made again.
    pub(super) async fn take_on(
        &mut self,
        accepted: Vec<ContractChange>,
        budget: Option<Budget>,
        lost_request: bool,
    ) -> Result<(), Error> {
        if lost_request {
            self.spent.model_calls = self.spent.model_calls.saturating_add(1);
        }
        let again = match &self.phase {
            Phase::Calls(turn) => turn.calls.iter().filter(|call| call.state == CallState::Intended).count(),
            _ => 0,
        };
        if again > 0 {
            let again = u32::try_from(again).unwrap_or(u32::MAX);
            self.budget.check_tool_calls(&self.spent, again).map_err(|limit| self.over_budget(limit))?;
            self.spent.tool_calls = self.spent.tool_calls.saturating_add(again);
        }
        let contract = (!accepted.is_empty()).then(|| self.agent.contract.clone());
        self.commit(|run| {
            Record::Resumed(Box::new(Resumed { accepted, contract, budget, spent: run.spent_now().clone() }))
        })
        .await
    }

    pub(super) async fn respond(&mut self, interruption: &Interruption, response: Response) -> Result<(), Error> {
        let Phase::Calls(turn) = &self.phase else { return Ok(()) };
        let Some(index) = turn.calls.iter().position(|call| call.action_id == interruption.action_id) else {
            return Ok(());
        };
        let record = turn.calls[index].clone();
        if !record.state.waits() {
            // The policy has denied it since.
            return Ok(());
        }
        match response {
            Response::Approve => {
                let state = self.approved(&record.call.name);
                self.decided(index, state, None).await
            }
            Response::Reject(reason) => {
                self.decided(index, CallState::Refused(ToolOutcome::Denied(reason)), None).await
            }
            Response::Answer(text) => {
                let receipt = Receipt {
                    action_id: record.action_id,
                    call_id: record.call.id,
                    tool: record.call.name,
                    arguments: record.call.arguments,
                    step: self.step,
                    outcome: ReceiptOutcome::Returned(Value::String(text).into()),
                };
                self.receipts.push(Arc::new(receipt.clone()));
                self.decided(index, CallState::Done(Arc::new(receipt)), None).await
            }
        }
    }
}
