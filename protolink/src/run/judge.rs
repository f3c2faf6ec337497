//! What becomes of a reply: decided for every call, then committed, before anything is done (contract M9, T6, P1).

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value};

use super::state::{PendingAnswer, PendingTurn, Phase, Run};
use super::waiting::{catching_panics, unless_cancelled};
use crate::digest::Digest;
use crate::durable::journal::{CallRecord, CallState, Decided, Record, Replied};
use crate::error::Error;
use crate::event::RunEvent;
use crate::hook::panic_message;
use crate::ids::{ActionId, RunId};
use crate::message::{ToolCall, ToolOutcome};
use crate::model::{ReplyContent, ReportedReply};
use crate::outcome::{Interruption, InterruptionRequest};
use crate::rules::{Approval, ApprovalRequest, Decision, PolicyRequest};
use crate::tool::{ASK_USER, BoundTool, question};
use crate::value::{MAX_DEPTH, check_depth, without_content};

impl Run {
    /// Decides about a reply and commits it.
    pub(super) async fn judge(&mut self, mut reply: ReportedReply) -> Result<(), Error> {
        keep_deep_arguments_as_text(&mut reply);
        // The reply as it came is for the journal; the run takes it apart.
        let as_it_came = self.journal.is_some().then(|| reply.clone());
        let (text, calls) = match reply.content {
            ReplyContent::Calls { text, calls } if !calls.is_empty() => (text, calls),
            _ => return self.judge_answer(as_it_came, reply).await,
        };
        self.retract();
        let mut records = self.judge_calls(calls);
        let over = self.allow_by_budget(&mut records).err();
        let turn = PendingTurn::new(text, reply.provider, records);
        let interruption = self.interruption_of(&turn);
        self.pending.clone_from(&interruption);
        self.commit_reply(as_it_came, &turn.calls, interruption).await?;
        self.phase = Phase::Calls(turn);
        match over {
            Some(error) => Err(error),
            None => self.check_corrections(),
        }
    }

    async fn judge_answer(&mut self, as_it_came: Option<ReportedReply>, reply: ReportedReply) -> Result<(), Error> {
        let (text, provider) = reply.into_answer();
        self.commit_reply(as_it_came, &[], None).await?;
        self.phase = Phase::Answer(PendingAnswer { text, provider });
        Ok(())
    }

    /// Commits a reply; there is one where there is a journal.
    async fn commit_reply(
        &mut self,
        reply: Option<ReportedReply>,
        calls: &[CallRecord],
        interruption: Option<Interruption>,
    ) -> Result<(), Error> {
        let record = reply.map(|reply| {
            // A run whose commit fails stops, so that nobody asks for them again.
            let mut delta = std::mem::take(&mut self.delta);
            delta.append(&mut self.step_delta);
            Record::Replied(Box::new(Replied {
                step: self.step,
                delta,
                hooks: std::mem::take(&mut self.hook_log),
                roster: self.draft.roster.roster().specs().iter().map(|spec| spec.name().to_owned()).collect(),
                sent_otherwise: self.draft.history.sends_otherwise(),
                reply,
                calls: calls.to_vec(),
                interruption,
                spent: self.spent_now().clone(),
                corrections: self.corrections,
                revisions: self.revisions.clone(),
                revisions_made: self.revisions_made,
            }))
        });
        self.commit_record(record).await
    }

    /// Decides about each call, in order.
    fn judge_calls(&mut self, calls: Vec<ToolCall>) -> Vec<CallRecord> {
        let mut records: Vec<CallRecord> = Vec::with_capacity(calls.len());
        for (index, mut call) in calls.into_iter().enumerate() {
            let repeated = !call.id.is_empty() && is_taken(&records, &call.id);
            if call.id.is_empty() || repeated {
                // Each call is answered under an id of its own, or the provider could not tell the answers apart.
                call.id = self.unused_id(index, &records);
            }
            let state = if repeated {
                CallState::Refused(ToolOutcome::Rejected("its id was given to another call of this turn".to_owned()))
            } else {
                self.judge_call(&mut call)
            };
            if let CallState::Refused(outcome) = &state {
                self.refused(&call, outcome);
            }
            let action_id = ActionId::of(self.id(), self.step, index);
            records.push(CallRecord { action_id, call, state });
        }
        records
    }

    /// An identifier for a call that brought none of its own.
    fn unused_id(&self, index: usize, records: &[CallRecord]) -> String {
        let mut candidates = (0..=records.len()).map(|n| format!("call_{}_{}", self.step, index + n));
        // One of so many is free.
        candidates.find(|id| !is_taken(records, id)).unwrap_or_default()
    }

    /// Decides about one call: is the tool there, do the arguments fit, does the policy allow it.
    fn judge_call(&self, call: &mut ToolCall) -> CallState {
        let rejected = |reason: String| CallState::Refused(ToolOutcome::Rejected(reason));
        let tool = self.agent.tool(&call.name).filter(|_| self.draft.roster.roster().contains(&call.name));
        let Some(tool) = tool else { return rejected(self.what_is_available()) };
        if let Err(reason) = fit_arguments(tool, &mut call.arguments) {
            return rejected(reason);
        }
        self.ask_policy(tool, &call.arguments)
    }

    pub(super) fn ask_policy(&self, tool: &BoundTool, arguments: &Value) -> CallState {
        let request = PolicyRequest { tool: &tool.spec, arguments, context: &self.context, step: self.step };
        let decision = catch_unwind(AssertUnwindSafe(|| self.agent.settings.policy.decide(&request)));
        match decision {
            Ok(Decision::Allow) if tool.is_built_in() && tool.spec.name() == ASK_USER => CallState::AwaitsAnswer,
            Ok(Decision::Allow) => CallState::Allowed,
            Ok(Decision::RequireApproval) => CallState::AwaitsApproval,
            Ok(Decision::Deny { reason }) => CallState::Refused(ToolOutcome::Denied(reason)),
            Err(panic) => {
                // An authority that cannot decide has not allowed it.
                let message = panic_message(panic.as_ref());
                tracing::error!(run_id = %self.id(), tool = tool.spec.name(), error = %message, "the policy panicked; the call is denied");
                CallState::Refused(ToolOutcome::Denied("the policy could not decide".to_owned()))
            }
        }
    }

    /// What the model is told when it names a tool that the step does not have. A removed tool is not told from one
    /// that never was, and the name is not repeated (contract M9).
    fn what_is_available(&self) -> String {
        let names: Vec<&str> = self.draft.roster.roster().specs().iter().map(|spec| spec.name()).collect();
        if names.is_empty() {
            "there is no such tool; no tools are available".to_owned()
        } else {
            format!("there is no such tool; these are available: {}", names.join(", "))
        }
    }

    /// Counts a refusal, and says it to those who watch.
    pub(super) fn refused(&mut self, call: &ToolCall, outcome: &ToolOutcome) {
        self.corrections += 1;
        let step = self.step;
        self.events.emit(|| RunEvent::CallRefused {
            step,
            call_id: call.id.clone(),
            reason: match outcome {
                // What a model wrote into an argument is content, and the parser's words repeat it.
                ToolOutcome::Rejected(reason) if !self.agent.settings.capture_content => without_content(reason),
                ToolOutcome::Rejected(reason) | ToolOutcome::Denied(reason) => reason.clone(),
                other => other.to_model_text(),
            },
        });
    }

    pub(super) fn check_corrections(&self) -> Result<(), Error> {
        let limit = self.agent.settings.max_tool_corrections;
        // A direct call has nobody to correct.
        if self.corrections <= limit || matches!(&self.phase, Phase::Calls(turn) if turn.direct) {
            return Ok(());
        }
        Err(Error::ToolCorrections { run_id: self.id().clone(), step: self.step, limit })
    }

    /// Turns allowed calls into intents, where nobody is waited for and the budget holds them all.
    pub(super) fn allow_by_budget(&mut self, calls: &mut [CallRecord]) -> Result<bool, Error> {
        if self.corrections > self.agent.settings.max_tool_corrections || calls.iter().any(|call| call.state.waits()) {
            return Ok(false);
        }
        let allowed = calls.iter().filter(|call| call.state == CallState::Allowed).count();
        if allowed == 0 {
            return Ok(false);
        }
        let allowed = u32::try_from(allowed).unwrap_or(u32::MAX);
        self.spent_now();
        self.budget.check_tool_calls(&self.spent, allowed).map_err(|limit| self.over_budget(limit))?;
        self.spent.tool_calls = self.spent.tool_calls.saturating_add(allowed);
        for call in calls.iter_mut().filter(|call| call.state == CallState::Allowed) {
            call.state = CallState::Intended;
        }
        Ok(true)
    }

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
        let agent = std::sync::Arc::clone(&self.agent);
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
        let agent = std::sync::Arc::clone(&self.agent);
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

/// Whether an earlier call of the turn has this id. A turn has few calls, which a look at each is cheapest for.
fn is_taken(records: &[CallRecord], id: &str) -> bool {
    records.iter().any(|record| record.call.id == id)
}

/// What an approval is bound to: the tool and its exact arguments (contract D4).
pub(super) fn call_digest(tool: &str, arguments: &Value) -> Digest {
    Digest::of_json(&(tool, arguments)).0
}

/// What is nested too deep could be written and not be read back. As text it is kept, and fits no tool.
fn keep_deep_arguments_as_text(reply: &mut ReportedReply) {
    if reply.provider.as_ref().is_some_and(|data| check_depth(data).is_err()) {
        tracing::warn!("what the provider wants back is nested too deep to be kept; it is left out");
        reply.provider = None;
    }
    if let ReplyContent::Calls { calls, .. } = &mut reply.content {
        for call in calls.iter_mut().filter(|call| check_depth(&call.arguments).is_err()) {
            call.arguments = Value::String(call.arguments.to_string());
        }
    }
}

/// Checks arguments before anything is asked or done; no arguments count as an empty object.
pub(super) fn fit_arguments(tool: &BoundTool, arguments: &mut Value) -> Result<(), String> {
    if arguments.is_null() {
        *arguments = Value::Object(Map::new());
    }
    if !arguments.is_object() {
        return Err(format!("the arguments must be a JSON object, nested {MAX_DEPTH} levels deep at most"));
    }
    if tool.is_built_in() && tool.spec.name() == ASK_USER {
        question(arguments)?;
    }
    tool.check(arguments)
}
