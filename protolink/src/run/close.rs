//! How a run ends that gives no answer: its conversation stays well-formed and truthful (contract P6, S7, D9).

use tracing::Instrument;

use super::state::{Phase, Run};
use super::telemetry;
use crate::change::Change;
use crate::durable::journal::{CallState, Record};
use crate::error::Error;
use crate::event::RunEvent;
use crate::history::History;
use crate::hook::text_of;
use crate::ids::{ActionId, RunId};
use crate::outcome::{Interruption, Outcome};
use crate::run::place::{Dropped, HistoryPlace, Last};

/// Where a run's history came from and goes back to, also when the run is dropped half-way.
pub(crate) struct Home<'c> {
    pub(super) run: Run,
    place: Option<&'c mut HistoryPlace>,
    /// The run that this one continues.
    continues: Option<RunId>,
    /// How the run stands with the store.
    left: Left,
}

/// How a run was left, as far as its store knows.
enum Left {
    /// In the middle of something, as a crash would leave it.
    Dropped,
    /// The store may have heard of it or not; a person decides.
    Unclear,
    /// The store knows all that the conversation knows.
    Recorded,
}

impl<'c> Home<'c> {
    pub(super) fn new(run: Run, place: Option<&'c mut HistoryPlace>, continues: Option<RunId>) -> Self {
        Self { run, place, continues, left: Left::Dropped }
    }

    /// Runs to the end, and takes down how it ended.
    pub(super) async fn run_to_the_end(mut self) -> Result<Outcome, Error> {
        let span = telemetry::invoke_agent(&self.run);
        let keep_alive = self.run.journal.as_ref().map(crate::durable::journal::Journal::keep_alive);
        let result = {
            let work = self.run.go_on().instrument(span.clone());
            match keep_alive {
                None => work.await,
                Some(keep_alive) => super::waiting::beside(work, keep_alive).await,
            }
        };
        telemetry::invoked(&span, &self.run, &result);
        self.end(result).await
    }

    /// Takes down how the run ended.
    pub(super) async fn end(mut self, result: Result<Outcome, Error>) -> Result<Outcome, Error> {
        self.left = Left::Recorded;
        let result = match result {
            Ok(Outcome::Interrupted(interruption)) => Ok(self.run.interrupted(interruption)),
            Ok(completed) => Ok(completed),
            Err(error) => {
                // F4: what was shown belongs to no answer.
                self.run.retract();
                if matches!(error, Error::Store(_)) {
                    self.left = Left::Unclear;
                } else if !self.run.record_failure(&error).await {
                    self.left = Left::Dropped;
                }
                self.run.events.emit_to_observers(|| RunEvent::Failed { error: text_of(&error) });
                Err(error)
            }
        };
        if let Some(journal) = &mut self.run.journal {
            journal.release().await;
        }
        if let Some(place) = &mut self.place {
            // A run that waits, or of which the store may not have heard all, is to be resumed before the conversation
            // goes on.
            let open = matches!(&result, Ok(Outcome::Interrupted(_))) || matches!(self.left, Left::Unclear);
            place.open = (open && self.run.journal.is_some()).then(|| self.run.id().clone());
        }
        result
    }
}

impl Drop for Home<'_> {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        place.history = self.run.close();
        if self.run.agent.settings.store.is_none() {
            return;
        }
        let run_id = self.run.id().clone();
        if matches!(self.left, Left::Dropped) {
            place.dropped = Some(Dropped { run_id: run_id.clone(), continues: self.continues.clone() });
        }
        if let Some(journal) = &self.run.journal {
            let rows = matches!(self.left, Left::Recorded).then(|| journal.rows());
            place.last = Some(Last { run_id, rows });
        }
    }
}

impl Run {
    fn interrupted(&mut self, interruption: Interruption) -> Outcome {
        self.events.emit(|| RunEvent::Interrupted(Box::new(interruption.clone())));
        Outcome::Interrupted(interruption)
    }

    /// Closes the conversation, and takes the failure down; whether the store knows of it.
    async fn record_failure(&mut self, error: &Error) -> bool {
        let not_started = self.not_started();
        let closing = self.close_changes();
        let Some(journal) = &mut self.journal else { return true };
        self.spent.wall_time = self.time.read();
        let spent = self.spent.clone();
        let record = match error {
            Error::Cancelled { .. } => Record::Cancelled { closing, spent },
            error => {
                let hooks = std::mem::take(&mut self.hook_log);
                Record::Failed { error: text_of(error), closing, not_started, hooks, spent }
            }
        };
        // The run stays what the store last heard of it; the caller is to know what happened first.
        match journal.append(&record).await {
            Ok(()) => true,
            Err(second) => {
                let run_id = &self.context.run_id;
                tracing::error!(%run_id, error = %second, "the end of the run could not be taken down");
                false
            }
        }
    }

    /// The intended actions that were never handed to their tools.
    fn not_started(&self) -> Vec<ActionId> {
        let Phase::Calls(turn) = &self.phase else { return Vec::new() };
        let calls = turn.calls.iter().zip(&turn.started);
        let idle = calls.filter(|(call, started)| call.state == CallState::Intended && !**started);
        idle.map(|(call, _)| call.action_id.clone()).collect()
    }

    /// Takes back what is half done, and closes the turn that is under way. Gives what the conversation gained.
    pub(super) fn close_changes(&mut self) -> Vec<Change> {
        self.draft.roll_back();
        self.draft.history.roll_back_step();
        self.step_delta.clear();
        if let Phase::Calls(turn) = std::mem::replace(&mut self.phase, Phase::Prepare)
            && !turn.direct
        {
            let message = turn.closed(&self.agent);
            self.keep(message);
        }
        std::mem::take(&mut self.delta)
    }

    /// The history as the conversation keeps it.
    fn close(&mut self) -> History {
        if self.pending.is_none() {
            self.close_changes();
        }
        let draft = std::mem::take(&mut self.draft.history);
        draft.into_kept()
    }
}
