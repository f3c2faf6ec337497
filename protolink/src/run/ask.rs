//! Asking the model: one prepared request, as many attempts as it takes (contract M6, P2).

use tracing::Instrument;

use super::state::Run;
use super::telemetry;
use super::waiting::{catching_panics, unless_cancelled};
use crate::error::Error;
use crate::event::RunEvent;
use crate::model::{ChunkSink, FinishReason, ModelError, PreparedRequest, ReportedReply};
use crate::rules::context::Shaped;
use crate::value::check_depth;

/// How one attempt ended.
pub(super) enum Attempt {
    Replied(ReportedReply),
    Failed { error: ModelError, shown: bool },
    Panicked(String),
    Cancelled,
}

impl Run {
    /// Asks until there is a whole reply, or no attempt is left.
    pub(super) async fn ask(&mut self, shaped: &Shaped) -> Result<ReportedReply, Error> {
        let mut waits = self.agent.settings.retry.waits();
        let mut attempt = 0;
        loop {
            // S7: whoever cancelled in a hook or while it was waited is not answered any more.
            self.check_cancelled()?;
            self.spent_now();
            // Where no limit is in tokens, nothing was measured.
            let estimate = shaped.tokens().unwrap_or(0);
            self.budget.check_model_call(&self.spent, estimate).map_err(|limit| self.over_budget(limit))?;
            self.spent.model_calls += 1;
            attempt += 1;
            let (run_id, step) = (self.id().clone(), self.step);
            match self.attempt(shaped, attempt).await {
                Attempt::Replied(reply) => return self.whole(reply, shaped),
                Attempt::Cancelled => return Err(self.cancelled()),
                Attempt::Panicked(message) => return Err(Error::ModelPanicked { run_id, step, message }),
                Attempt::Failed { error: ModelError::Truncated { .. }, .. } => {
                    return Err(Error::Truncated { run_id, step });
                }
                Attempt::Failed { error, shown } => {
                    let asked = match &error {
                        ModelError::Transient { retry_after, .. } => Some(*retry_after),
                        _ => None,
                    };
                    // Once somebody was shown a part of a reply, another reply would contradict it.
                    let wait = asked.filter(|_| !shown).and_then(|asked| waits.next(asked));
                    let Some(wait) = wait else {
                        return Err(Error::Model { run_id, step, attempts: attempt, source: error });
                    };
                    self.events.emit(|| RunEvent::ModelRetried { step, attempt, wait });
                    if !wait.is_zero() && unless_cancelled(&self.cancel, tokio::time::sleep(wait)).await.is_none() {
                        return Err(self.cancelled());
                    }
                }
            }
        }
    }

    async fn attempt(&mut self, shaped: &Shaped, attempt: u32) -> Attempt {
        let (events, step) = (&self.events, self.step);
        let history = &self.draft.history;
        let request = PreparedRequest {
            system: history.sent_system(),
            messages: shaped.messages.as_deref().unwrap_or(history.sent().messages()),
            tools: self.draft.roster.roster().specs(),
            answer_schema: self.answer.as_ref().map(|answer| &*answer.schema),
        };
        events.emit(|| {
            let tools = request.tools.iter().map(|tool| tool.name().to_owned()).collect();
            RunEvent::ModelRequested { step, attempt, tools }
        });
        let span = telemetry::chat(self, &request, attempt);
        let mut show = |text: &str| events.show(step, text);
        let mut chunks =
            if events.has_listener() && !self.hold_output { ChunkSink::to(&mut show) } else { ChunkSink::ignored() };
        let reply = catching_panics(async { self.agent.model.respond(&request, &mut chunks).await });
        let outcome = unless_cancelled(&self.cancel, reply).instrument(span.clone()).await;
        let shown = chunks.has_shown();
        self.shown |= shown;
        let attempt = match outcome {
            None => Attempt::Cancelled,
            Some(Err(message)) => Attempt::Panicked(message),
            Some(Ok(Ok(reply))) => Attempt::Replied(reply.into_reported()),
            Some(Ok(Err(error))) => Attempt::Failed { error, shown },
        };
        telemetry::replied(&span, self, &attempt);
        attempt
    }

    /// Counts what a reply cost, and refuses one that was cut off (contract F5).
    fn whole(&mut self, mut reply: ReportedReply, shaped: &Shaped) -> Result<ReportedReply, Error> {
        // What could not be read back from the journal is not carried either; the provider does without it.
        reply.provider = reply.provider.filter(|data| check_depth(data).is_ok());
        let mut usage = reply.usage;
        if usage.total() == 0 {
            // The provider does not say: what is known is the request.
            usage.input_tokens = self.estimate(shaped);
        }
        self.spent.input_tokens = self.spent.input_tokens.saturating_add(usage.input_tokens);
        self.spent.output_tokens = self.spent.output_tokens.saturating_add(usage.output_tokens);
        if matches!(reply.finish_reason, FinishReason::Length | FinishReason::ContentFilter) {
            return Err(Error::Truncated { run_id: self.id().clone(), step: self.step });
        }
        let step = self.step;
        self.events.emit(|| RunEvent::ModelReplied {
            step,
            usage: reply.usage,
            finish_reason: reply.finish_reason.clone(),
            calls: reply.tool_calls().len(),
        });
        Ok(reply)
    }

    /// Says that what was shown at this step is no answer (contract F4).
    pub(super) fn retract(&mut self) {
        if std::mem::take(&mut self.shown) {
            let step = self.step;
            self.events.emit(|| RunEvent::Retracted { step });
        }
    }
}
