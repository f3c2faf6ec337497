//! Running hooks: each on a draft that counts when it returns `Ok` (contract S5).

use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use super::state::Run;
use super::telemetry;
use super::waiting::unless_cancelled;
use crate::change::Change;
use crate::durable::journal::HookRecord;
use crate::error::Error;
use crate::event::{HookDifference, HookEffect, RunEvent};
use crate::hook::{
    BoxError, FinalResponse, HookCode, HookIdentity, ModelRequest, ObservationDraft, ResponseDraft, Stage,
    ToolObservation,
};
use crate::receipt::Receipt;
use crate::value::{SharedValue, ValueError};

impl Run {
    /// Runs the `before_model` hooks of this step, in order, once each (contract S2, M6).
    pub(super) async fn run_before_model(&mut self) -> Result<(), Error> {
        let agent = Arc::clone(&self.agent);
        for hook in &agent.settings.hooks.before_model {
            let watch = self.watch(&hook.identity);
            let mut first = None;
            loop {
                if watch.is_on() {
                    self.draft.history.note_touched();
                }
                let mut request = ModelRequest::new(&mut self.draft, &self.context, &hook.key, self.step);
                let result = match &hook.code {
                    HookCode::Sync(code) => watch.in_scope(|| code.call(&mut request)),
                    HookCode::Async(code) => {
                        wait_for(code.call(&mut request, hook.identity.timeout), &self.cancel, &watch).await
                    }
                };
                // T7: what a hook adds to the history is kept exactly or refused.
                let result = result.and_then(|()| self.draft.check_kept().map_err(BoxError::from));
                if let Err(source) = result {
                    self.draft.roll_back();
                    return Err(self.hook_failed(&hook.identity, source, &watch));
                }
                if !agent.settings.strict || first.is_some() {
                    break;
                }
                first = Some(self.draft.changes());
                self.draft.roll_back();
            }
            if let Some(first) = first {
                self.same_twice(&hook.identity, &first, &self.draft.changes(), &watch)?;
            }
            if watch.is_on() || self.draft.has_changes() {
                self.request_hook_ran(&hook.identity, &watch);
            }
        }
        Ok(())
    }

    /// Runs the `after_tool` hooks on the result that a receipt keeps, and gives what the model is to see.
    pub(super) async fn run_after_tool(
        &mut self,
        receipt: &Receipt,
        result: &SharedValue,
    ) -> Result<SharedValue, Error> {
        let agent = Arc::clone(&self.agent);
        let mut draft = ObservationDraft::new(result.clone());
        for hook in agent.settings.hooks.after_tool.iter().filter(|hook| hook.identity.is_for(&receipt.tool)) {
            let watch = self.watch(&hook.identity);
            let before = draft.current().clone();
            let mut first = None;
            loop {
                let (tool, call_id) = (&receipt.tool, &receipt.call_id);
                let mut observation = ToolObservation::new(&mut draft, tool, call_id, &self.context, receipt.step);
                let outcome = match &hook.code {
                    HookCode::Sync(code) => watch.in_scope(|| code.call(&mut observation)),
                    HookCode::Async(code) => {
                        wait_for(code.call(&mut observation, hook.identity.timeout), &self.cancel, &watch).await
                    }
                };
                if let Err(source) = outcome {
                    return Err(self.hook_failed(&hook.identity, source, &watch));
                }
                if !agent.settings.strict || first.is_some() {
                    break;
                }
                first = Some(draft.changes(&receipt.call_id));
                draft.roll_back();
            }
            if let Some(first) = first {
                self.same_twice(&hook.identity, &first, &draft.changes(&receipt.call_id), &watch)?;
            }
            let change = draft.accept(&receipt.call_id).map_err(|error| self.unkept_by(&hook.identity, error))?;
            let changes: Vec<Change> = change.into_iter().collect();
            let difference = || HookDifference::of_content(&before, draft.current());
            self.hook_ran(&hook.identity, &changes, difference, &watch);
        }
        Ok(draft.into_current())
    }

    /// Runs the `before_complete` hooks on an answer; gives feedback where one of them wants another answer.
    pub(super) async fn run_before_complete(
        &mut self,
        draft: &mut ResponseDraft,
    ) -> Result<Option<(String, String)>, Error> {
        let agent = Arc::clone(&self.agent);
        for hook in &agent.settings.hooks.before_complete {
            let watch = self.watch(&hook.identity);
            let before = draft.content().clone();
            let mut first = None;
            loop {
                let mut response = FinalResponse::new(draft, &self.receipts, &self.context, self.step);
                let outcome = match &hook.code {
                    HookCode::Sync(code) => watch.in_scope(|| code.call(&mut response)),
                    HookCode::Async(code) => {
                        wait_for(code.call(&mut response, hook.identity.timeout), &self.cancel, &watch).await
                    }
                };
                if let Err(source) = outcome {
                    draft.roll_back();
                    return Err(self.hook_failed(&hook.identity, source, &watch));
                }
                if !agent.settings.strict || first.is_some() {
                    break;
                }
                first = Some(draft.changes());
                draft.roll_back();
            }
            if let Some(first) = first {
                self.same_twice(&hook.identity, &first, &draft.changes(), &watch)?;
            }
            let accepted = draft.accept();
            let difference = || HookDifference::of_content(&before, draft.content());
            self.hook_ran(&hook.identity, &accepted.changes, difference, &watch);
            if let Some(feedback) = accepted.revision {
                return Ok(Some((hook.name().to_owned(), feedback)));
            }
        }
        Ok(None)
    }

    /// Begins to watch a hook, if anybody wants to know of it.
    #[inline]
    fn watch(&self, hook: &HookIdentity) -> Watch {
        let span =
            telemetry::may_be_wanted().then(|| telemetry::hook(hook, self.step)).filter(|span| !span.is_disabled());
        let watched = span.is_some() || self.events.are_watched() || self.journal.is_some();
        // Where nobody looks, a hook costs no span and no look at the clock.
        Watch(watched.then(|| (Instant::now(), span.unwrap_or_else(Span::none))))
    }

    /// Keeps what a hook did to the request, and says it. It stands apart from the hooks that change nothing and are not
    /// watched, which it would slow down.
    #[inline(never)]
    fn request_hook_ran(&mut self, hook: &HookIdentity, watch: &Watch) {
        let difference = self.draft.difference();
        let changes = self.draft.accept();
        self.hook_ran(hook, &changes, || difference, watch);
        self.gain(changes);
    }

    /// Says what a hook did: to those who watch, to its span, and to the journal.
    fn hook_ran(
        &mut self,
        hook: &HookIdentity,
        changes: &[Change],
        difference: impl FnOnce() -> Option<HookDifference>,
        watch: &Watch,
    ) {
        let Some((started, span)) = &watch.0 else { return };
        let (stage, step, duration) = (hook.stage, self.step, started.elapsed());
        let effect = HookEffect::of(changes, difference());
        telemetry::hook_ran(span, changes.len(), &effect);
        if self.journal.is_some() {
            let (hook, changes) = (hook.name.clone(), changes.len());
            self.hook_log.push(HookRecord { stage, hook, step, changes, effect: effect.clone() });
        }
        self.events.emit(|| RunEvent::HookRan {
            stage,
            hook: hook.name.clone(),
            step,
            changes: self.events.captured_changes(changes),
            effect,
            duration,
        });
    }

    #[cold]
    fn hook_failed(&self, hook: &HookIdentity, source: BoxError, watch: &Watch) -> Error {
        let error = if source.is::<RunCancelled>() {
            self.cancelled()
        } else {
            match source.downcast::<ValueError>() {
                Ok(error) => self.unkept_by(hook, *error),
                Err(source) => Error::Hook {
                    run_id: self.id().clone(),
                    stage: hook.stage,
                    hook: hook.name.clone(),
                    step: self.step,
                    source,
                },
            }
        };
        telemetry::failed(&watch.span(), error.kind());
        error
    }

    fn unkept_by(&self, hook: &HookIdentity, source: ValueError) -> Error {
        let (run_id, step) = (self.id().clone(), self.step);
        Error::HookValue { run_id, stage: hook.stage, hook: hook.name.clone(), step, source }
    }

    /// Wants the same of both runs of a hook; what it did is shown as far as content may be.
    fn same_twice(&self, hook: &HookIdentity, first: &[Change], second: &[Change], watch: &Watch) -> Result<(), Error> {
        if first == second {
            return Ok(());
        }
        let (run_id, step) = (self.id().clone(), self.step);
        let (first, second) = (self.events.captured_changes(first), self.events.captured_changes(second));
        let error = Error::NotRepeatable { run_id, stage: hook.stage, hook: hook.name.clone(), step, first, second };
        telemetry::failed(&watch.span(), error.kind());
        Err(error)
    }
}

/// The run was cancelled while a hook ran; it does not leave this file.
#[derive(Debug, thiserror::Error)]
#[error("the run was cancelled")]
struct RunCancelled;

/// Waits for an async hook, in its span, unless the run is cancelled meanwhile (contract S7).
async fn wait_for(
    hook: impl Future<Output = Result<(), BoxError>>,
    cancel: &CancellationToken,
    watch: &Watch,
) -> Result<(), BoxError> {
    let result = unless_cancelled(cancel, hook).instrument(watch.span()).await;
    result.unwrap_or_else(|| Err(Box::new(RunCancelled)))
}

/// When a hook started and in which span, if anybody wants to know.
struct Watch(Option<(Instant, Span)>);

impl Watch {
    #[inline]
    fn is_on(&self) -> bool {
        self.0.is_some()
    }

    fn span(&self) -> Span {
        self.0.as_ref().map_or_else(Span::none, |(_, span)| span.clone())
    }

    #[inline]
    fn in_scope<T>(&self, call: impl FnOnce() -> T) -> T {
        match &self.0 {
            None => call(),
            Some((_, span)) => span.in_scope(call),
        }
    }
}

/// Whether a hook of this stage runs for this tool.
impl HookIdentity {
    fn is_for(&self, tool: &str) -> bool {
        debug_assert_eq!(self.stage, Stage::AfterTool);
        self.tool.as_deref().is_none_or(|only| only == tool)
    }
}
