//! What becomes of a reply: decided for every call, then committed, before anything is done (contract M9, T6, P1).

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value};

use super::state::{PendingAnswer, PendingTurn, Phase, Run};
use crate::durable::journal::{CallRecord, CallState, Record, Replied};
use crate::error::Error;
use crate::event::RunEvent;
use crate::hook::panic_message;
use crate::ids::ActionId;
use crate::message::{ToolCall, ToolOutcome};
use crate::model::{ReplyContent, ReportedReply};
use crate::outcome::Interruption;
use crate::rules::{Decision, PolicyRequest};
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
    pub(super) fn what_is_available(&self) -> String {
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
}

/// Whether an earlier call of the turn has this id. A turn has few calls, which a look at each is cheapest for.
fn is_taken(records: &[CallRecord], id: &str) -> bool {
    records.iter().any(|record| record.call.id == id)
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
