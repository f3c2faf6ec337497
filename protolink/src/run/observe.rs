//! What the model learns of the calls: hooks shape copies, in the order of the calls (contract T2, T3, T6).

use std::sync::Arc;

use super::state::{PendingTurn, Phase, Run};
use crate::durable::journal::CallState;
use crate::error::Error;
use crate::event::RunEvent;
use crate::message::{Exchange, Message, ToolOutcome, Turn};
use crate::outcome::Answer;
use crate::receipt::{Receipt, ReceiptOutcome};

impl Run {
    /// Shapes every result, and puts the whole turn into the history. A direct call ends here with its result.
    pub(super) async fn observe(&mut self) -> Result<Option<Answer>, Error> {
        let Phase::Calls(turn) = &self.phase else { return Ok(None) };
        if turn.direct {
            return self.complete_direct().await.map(Some);
        }
        for index in turn.shaped.len()..turn.calls.len() {
            let Phase::Calls(turn) = &self.phase else { return Ok(None) };
            let outcome = match &turn.calls[index].state {
                CallState::Done(receipt) => {
                    let receipt = Arc::clone(receipt);
                    self.observe_receipt(&receipt).await?
                }
                other => told(other),
            };
            if let Phase::Calls(turn) = &mut self.phase {
                turn.shaped.push(outcome);
            }
        }
        if let Phase::Calls(turn) = std::mem::replace(&mut self.phase, Phase::Prepare) {
            self.keep(turn.into_message());
        }
        Ok(None)
    }

    async fn observe_receipt(&mut self, receipt: &Receipt) -> Result<ToolOutcome, Error> {
        let Some(result) = receipt.shared_result() else { return Ok(told_of(receipt)) };
        let observed = self.run_after_tool(receipt, result).await?;
        let step = self.step;
        self.events.emit(|| RunEvent::Observed {
            step,
            call_id: receipt.call_id.clone(),
            tool: receipt.tool.clone(),
            result: self.events.captured(result),
            observed: self.events.captured(&observed),
        });
        Ok(ToolOutcome::Observed(observed))
    }
}

impl PendingTurn {
    fn into_message(self) -> Message {
        let Self { text, provider, calls, shaped, .. } = self;
        let exchanges = calls.into_iter().zip(shaped).map(|(record, outcome)| Exchange { call: record.call, outcome });
        let mut turn = Turn::new(text, exchanges.collect());
        turn.provider = provider;
        Message::Assistant(turn)
    }

    /// The turn as it stands when the run ends in the middle of it: every call is answered, and truthfully (contract P6).
    pub(super) fn closed(mut self, agent: &crate::settings::AgentInner) -> Message {
        for index in self.shaped.len()..self.calls.len() {
            let shapes = |tool: &str| {
                let hooks = &agent.settings.hooks.after_tool;
                hooks.iter().any(|hook| hook.identity.tool.as_deref().is_none_or(|only| only == tool))
            };
            let outcome = match &self.calls[index].state {
                CallState::Done(receipt) => match receipt.shared_result() {
                    // What no hook has shaped yet is not shown: the hook may be there to redact it.
                    Some(_) if shapes(&receipt.tool) => ToolOutcome::Withheld { receipt: receipt.digest().to_string() },
                    Some(result) => ToolOutcome::Observed(result.clone()),
                    None => told_of(receipt),
                },
                CallState::Intended if self.started.get(index).copied().unwrap_or(false) => ToolOutcome::Uncertain,
                other => told(other),
            };
            self.shaped.push(outcome);
        }
        self.into_message()
    }
}

/// What the model is told of a call that has no receipt.
fn told(state: &CallState) -> ToolOutcome {
    match state {
        CallState::Refused(outcome) => outcome.clone(),
        CallState::Done(receipt) => told_of(receipt),
        CallState::AwaitsApproval | CallState::AwaitsAnswer | CallState::Allowed | CallState::Intended => {
            ToolOutcome::Cancelled
        }
    }
}

/// What the model is told of a call that did not succeed.
fn told_of(receipt: &Receipt) -> ToolOutcome {
    match &receipt.outcome {
        ReceiptOutcome::Returned(value) | ReceiptOutcome::Reconciled(value) => ToolOutcome::Observed(value.clone()),
        ReceiptOutcome::Failed(text) => ToolOutcome::Failed(text.clone()),
        ReceiptOutcome::Rejected(text) => ToolOutcome::Rejected(text.clone()),
        ReceiptOutcome::Unkept(_) => ToolOutcome::Withheld { receipt: receipt.digest().to_string() },
        ReceiptOutcome::Cancelled => ToolOutcome::Uncertain,
    }
}
