//! How a run ends that gives no answer: its conversation stays well-formed and truthful (contract P6, S7, D9).

use super::state::{Phase, Run};
use crate::change::Change;
use crate::durable::journal::{CallState, Record};
use crate::error::Error;
use crate::event::RunEvent;
use crate::history::History;
use crate::outcome::{Interruption, Outcome};

/// Where a run's history came from and goes back to, also when the run is dropped half-way.
pub(crate) struct Home<'c> {
    pub(super) run: Run,
    place: Option<&'c mut HistoryPlace>,
}

/// A conversation's own place for its history.
#[derive(Default)]
pub(crate) struct HistoryPlace {
    pub(crate) history: History,
    /// The interruption or the open run that the conversation waits for.
    pub(crate) open: Option<crate::ids::RunId>,
    /// The run that the next one continues.
    pub(crate) last: Option<crate::ids::RunId>,
}

impl<'c> Home<'c> {
    pub(super) fn new(run: Run, place: Option<&'c mut HistoryPlace>) -> Self {
        Self { run, place }
    }

    /// Runs to the end, and takes down how it ended.
    pub(super) async fn run_to_the_end(mut self) -> Result<Outcome, Error> {
        let keep_alive = self.run.journal.as_ref().map(crate::durable::journal::Journal::keep_alive);
        let result = {
            let work = self.run.go_on();
            match keep_alive {
                None => work.await,
                Some(keep_alive) => super::waiting::beside(work, keep_alive).await,
            }
        };
        let result = match result {
            Ok(Outcome::Interrupted(interruption)) => Ok(self.run.interrupted(interruption)),
            Ok(completed) => Ok(completed),
            Err(error) => Err(self.run.failed(error).await),
        };
        if let Some(journal) = &mut self.run.journal {
            journal.release().await;
        }
        if let Some(place) = &mut self.place {
            // A run that waits, or whose end could not be taken down, is to be resumed before the conversation goes on.
            let open = matches!(&result, Ok(Outcome::Interrupted(_))) || matches!(&result, Err(Error::Store(_)));
            place.open = (open && self.run.journal.is_some()).then(|| self.run.id().clone());
        }
        result
    }
}

impl Drop for Home<'_> {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        place.history = self.run.close();
        if self.run.journal.is_some() {
            place.last = Some(self.run.id().clone());
        }
    }
}

impl Run {
    fn interrupted(&mut self, interruption: Interruption) -> Outcome {
        self.events.emit(|| RunEvent::Interrupted(Box::new(interruption.clone())));
        Outcome::Interrupted(interruption)
    }

    /// Closes the conversation, and takes the failure down.
    async fn failed(&mut self, error: Error) -> Error {
        // F4: what was shown belongs to no answer.
        self.retract();
        let not_started = self.not_started();
        let closing = self.close_changes();
        self.events.emit_to_observers(|| RunEvent::Failed { error: error.to_string() });
        if let Some(journal) = &mut self.journal
            && !matches!(error, Error::Store(_) | Error::RunBusy { .. })
        {
            self.spent.wall_time = self.time.read();
            let spent = self.spent.clone();
            let record = match &error {
                Error::Cancelled { .. } => Record::Cancelled { closing, spent },
                error => {
                    let hooks = std::mem::take(&mut self.hook_log);
                    Record::Failed { error: error.to_string(), closing, not_started, hooks, spent }
                }
            };
            // The run stays what the store last heard of it; the caller is to know what happened first.
            if let Err(second) = journal.append(&record).await {
                tracing::error!(run_id = %self.context.run_id, error = %second, "the end of the run could not be taken down");
            }
        }
        error
    }

    /// Ends a run that was taken over in order to end it.
    pub(super) async fn cancel_stored(mut self) -> Result<(), Error> {
        self.pending = None;
        let closing = self.close_changes();
        let spent = self.spent.clone();
        if let Some(journal) = &mut self.journal {
            journal.append(&Record::Cancelled { closing, spent }).await?;
            journal.release().await;
        }
        Ok(())
    }

    /// The intended actions that were never handed to their tools.
    fn not_started(&self) -> Vec<crate::ids::ActionId> {
        let Phase::Calls(turn) = &self.phase else { return Vec::new() };
        let calls = turn.calls.iter().zip(&turn.started);
        let idle = calls.filter(|(call, started)| call.state == CallState::Intended && !**started);
        idle.map(|(call, _)| call.action_id.clone()).collect()
    }

    /// Takes back what is half done, and closes the turn that is under way. Gives what the conversation gained.
    fn close_changes(&mut self) -> Vec<Change> {
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
