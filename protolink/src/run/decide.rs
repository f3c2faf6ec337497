//! A word on every call that waits for one, a person's or the policy's anew, and the intents of those that may run
//! (contract D1, D11, P1).

use std::sync::Arc;

use serde_json::Value;

use super::state::{PendingTurn, Phase, Run};
use super::waiting::{catching_panics, unless_cancelled};
use crate::digest::Digest;
use crate::durable::journal::{CallRecord, CallState, Decided, Record};
use crate::error::Error;
use crate::ids::{ActionId, RunId};
use crate::message::{ToolCall, ToolOutcome};
use crate::outcome::{Interruption, InterruptionRequest};
use crate::rules::{Approval, ApprovalRequest};
use crate::tool::{ASK_USER, question};

impl Run {
    /// What a person is to be asked next, where no live approver can be asked instead.
    pub(super) fn interruption_of(&self, turn: &PendingTurn) -> Option<Interruption> {
        let approver = self.agent.settings.approver.is_some();
        let call = turn.calls.iter().find(|call| call.state.waits())?;
        if self.journal.is_none() || (approver && call.state == CallState::AwaitsApproval) {
            return None;
        }
        self.interruption_for(call)
    }

    fn interruption_for(&self, call: &CallRecord) -> Option<Interruption> {
        let ToolCall { name, arguments, .. } = &call.call;
        let request = match &call.state {
            CallState::AwaitsAnswer => InterruptionRequest::Question { question: question(arguments).ok()? },
            CallState::AwaitsApproval => InterruptionRequest::Approval {
                tool: name.clone(),
                arguments: arguments.clone(),
                capabilities: self.agent.tool(name).map(|tool| tool.spec.capabilities().to_vec()).unwrap_or_default(),
            },
            _ => return None,
        };
        Some(Interruption {
            run_id: self.id().clone(),
            id: RunId::new().to_string(),
            action_id: call.action_id.clone(),
            digest: call_digest(name, arguments),
            request,
        })
    }

    /// Gets a decision on every call that waits for one; gives what the run waits for where a person is to be asked.
    pub(super) async fn decide(&mut self) -> Result<Option<Interruption>, Error> {
        let agent = Arc::clone(&self.agent);
        loop {
            let Phase::Calls(turn) = &self.phase else { return Ok(None) };
            let Some(index) = turn.calls.iter().position(|call| call.state.waits()) else { break };
            let record = turn.calls[index].clone();
            if let Some(pending) = self.pending.clone() {
                return Ok(Some(pending));
            }
            let approver = agent.settings.approver.as_ref().filter(|_| record.state == CallState::AwaitsApproval);
            let Some(approver) = approver else {
                return self.wait_for_a_person(&record).await.map(Some);
            };
            let request = ApprovalRequest {
                run_id: self.id().clone(),
                action_id: record.action_id.clone(),
                tool: record.call.name.clone(),
                arguments: record.call.arguments.clone(),
                capabilities: agent.tool(&record.call.name).map(|t| t.spec.capabilities().to_vec()).unwrap_or_default(),
            };
            // The call is made inside of the future, so that what panics at once is caught as well.
            let asked = catching_panics(async { approver.approve(&request).await });
            let Some(asked) = unless_cancelled(&self.cancel, asked).await else {
                return Err(self.cancelled());
            };
            let approval = asked.unwrap_or_else(|message| {
                // Whoever did not say yes has not approved (contract D11).
                tracing::error!(run_id = %self.id(), tool = %request.tool, error = %message, "the approver panicked; nothing is approved");
                Approval::Undecided
            });
            let state = match approval {
                Approval::Approve => self.approved(&record.call.name),
                Approval::Reject { reason } => CallState::Refused(ToolOutcome::Denied(reason)),
                Approval::Undecided => return self.wait_for_a_person(&record).await.map(Some),
            };
            self.decided(index, state, None).await?;
        }
        self.intend().await.map(|()| None)
    }

    /// Where a call stands that a person has said yes to: a question is still to be answered.
    pub(super) fn approved(&self, tool: &str) -> CallState {
        let asks = self.agent.tool(tool).is_some_and(|tool| tool.is_built_in() && tool.spec.name() == ASK_USER);
        if asks { CallState::AwaitsAnswer } else { CallState::Allowed }
    }

    /// Asks the policy again about calls that no process has dispatched: it is the authority now, not the one that the
    /// process before had (contract P1). It can take back what was allowed, never allow more. A tool that is gone is
    /// refused like any that is not there (contract M9).
    pub(super) async fn ask_the_policy_again(&mut self) -> Result<(), Error> {
        let calls = match &self.phase {
            Phase::Calls(turn) => turn.calls.clone(),
            _ => return Ok(()),
        };
        let agent = Arc::clone(&self.agent);
        for (index, record) in calls.iter().enumerate() {
            if record.state != CallState::Allowed && !record.state.waits() {
                continue;
            }
            let state = match agent.tool(&record.call.name) {
                None => CallState::Refused(ToolOutcome::Rejected(self.what_is_available())),
                Some(tool) => self.ask_policy(tool, &record.call.arguments),
            };
            if matches!(state, CallState::Refused(_)) {
                let waits_for_it = self.pending.as_ref().is_some_and(|pending| pending.action_id == record.action_id);
                let interruption = self.pending.clone().filter(|_| !waits_for_it);
                self.decided(index, state, interruption).await?;
            }
        }
        Ok(())
    }

    /// Commits the intents of the calls that were allowed since the reply (contract D1).
    async fn intend(&mut self) -> Result<(), Error> {
        self.check_corrections()?;
        let Phase::Calls(turn) = &mut self.phase else { return Ok(()) };
        let mut calls = std::mem::take(&mut turn.calls);
        let intended = self.allow_by_budget(&mut calls);
        if let Phase::Calls(turn) = &mut self.phase {
            turn.calls = calls;
        }
        if !intended? {
            return Ok(());
        }
        self.commit(|run| {
            let spent = run.spent_now().clone();
            let actions = match &run.phase {
                Phase::Calls(turn) => {
                    let intended = turn.calls.iter().filter(|call| call.state == CallState::Intended);
                    intended.map(|call| call.action_id.clone()).collect()
                }
                _ => Vec::new(),
            };
            Record::Dispatched { actions, spent }
        })
        .await
    }

    async fn wait_for_a_person(&mut self, call: &CallRecord) -> Result<Interruption, Error> {
        let interruption = if self.journal.is_some() { self.interruption_for(call) } else { None };
        let Some(interruption) = interruption else {
            let (run_id, step) = (self.id().clone(), self.step);
            return Err(Error::ApprovalUnavailable { run_id, tool: call.call.name.clone(), step });
        };
        let (action_id, state) = (call.action_id.clone(), call.state.clone());
        self.commit_decision(action_id, state, Some(interruption.clone())).await?;
        self.pending = Some(interruption.clone());
        Ok(interruption)
    }

    /// Takes a decision on one call down, and commits it.
    pub(super) async fn decided(
        &mut self,
        index: usize,
        state: CallState,
        interruption: Option<Interruption>,
    ) -> Result<(), Error> {
        let Phase::Calls(turn) = &mut self.phase else { return Ok(()) };
        let Some(record) = turn.calls.get_mut(index) else { return Ok(()) };
        record.state = state.clone();
        let (action_id, call) = (record.action_id.clone(), record.call.clone());
        if let CallState::Refused(outcome) = &state {
            self.refused(&call, outcome);
        }
        self.pending.clone_from(&interruption);
        self.commit_decision(action_id, state, interruption).await
    }

    async fn commit_decision(
        &mut self,
        action_id: ActionId,
        state: CallState,
        interruption: Option<Interruption>,
    ) -> Result<(), Error> {
        self.commit(|run| {
            let (corrections, spent) = (run.corrections, run.spent_now().clone());
            Record::Decided(Decided { action_id, state, interruption, corrections, spent })
        })
        .await
    }
}

/// What an approval is bound to: the tool and its exact arguments (contract D4).
pub(super) fn call_digest(tool: &str, arguments: &Value) -> Digest {
    Digest::of_json(&(tool, arguments)).0
}
