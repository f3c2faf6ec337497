//! What the rules of the suite are written with.

use std::sync::Arc;
use std::time::Duration;

use super::super::ManualClock;
use crate::durable::{Clock, Lease, NewRun, Row, RunState, RunStore, StoreError, StoredRun, SystemClock, Timestamp};
use crate::ids::RunId;

/// How a rule went: `Err` says what the store did wrong.
pub(super) type Verdict = Result<(), String>;

/// Longer than any rule takes.
pub(super) const LONG: Duration = Duration::from_mins(10);

/// What every payload of the suite holds, and no error may.
pub(super) const CANARY: &str = "payload-canary";

/// How time passes for the store.
#[derive(Clone)]
pub(super) enum Time {
    Real,
    Manual(ManualClock),
}

/// A store to try a rule on.
#[derive(Clone)]
pub(super) struct Trial {
    pub(super) store: Arc<dyn RunStore>,
    time: Time,
}

impl Trial {
    pub(super) fn new(store: Arc<dyn RunStore>, time: Time) -> Self {
        Self { store, time }
    }

    /// A lease that the rule sees run out.
    pub(super) fn short(&self) -> Duration {
        match self.time {
            Time::Real => Duration::from_millis(400),
            Time::Manual(_) => Duration::from_secs(30),
        }
    }

    /// Lets a [`short`](Self::short) lease run out.
    pub(super) async fn outlast_short(&self) {
        self.pass(self.short()).await;
    }

    /// Lets `duration` pass; a sleeping thread may take a little longer, and never less.
    pub(super) async fn pass(&self, duration: Duration) {
        match &self.time {
            Time::Real => tokio::time::sleep(duration + Duration::from_millis(5)).await,
            Time::Manual(clock) => clock.advance(duration),
        }
    }

    /// The clock, if the suite can move it.
    pub(super) fn clock(&self) -> Option<&ManualClock> {
        match &self.time {
            Time::Real => None,
            Time::Manual(clock) => Some(clock),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        match &self.time {
            Time::Real => SystemClock.now(),
            Time::Manual(clock) => clock.now(),
        }
    }

    /// Lets enough time pass for two moments to differ.
    pub(super) async fn tick(&self) {
        self.pass(Duration::from_millis(3)).await;
    }

    /// Creates a run of the agent `agent` with one row.
    pub(super) async fn create(&self, id: &str, ttl: Duration) -> Result<Lease, String> {
        let created = self.store.create(NewRun::new(id, "agent"), row(id, 1), ttl).await;
        created.map_err(unexpected("create"))
    }

    pub(super) async fn append(&self, lease: &Lease, sequence: u64) -> Verdict {
        self.append_as(lease, sequence, RunState::Running).await
    }

    pub(super) async fn append_as(&self, lease: &Lease, sequence: u64, state: RunState) -> Verdict {
        let row = row(lease.run_id().as_str(), sequence);
        self.store.append(lease, row, state).await.map_err(unexpected("append"))
    }

    pub(super) async fn load(&self, id: &str) -> Result<StoredRun, String> {
        self.store.load(&RunId::from(id)).await.map_err(unexpected("load"))
    }

    pub(super) async fn acquire(&self, id: &str, ttl: Duration) -> Result<Lease, String> {
        self.store.acquire(&RunId::from(id), ttl).await.map_err(unexpected("acquire"))
    }

    pub(super) async fn release(&self, lease: Lease) -> Verdict {
        self.store.release(lease).await.map_err(unexpected("release"))
    }

    /// Ends a run that has `rows` rows, and lets go of it.
    pub(super) async fn end(&self, lease: Lease, rows: u64) -> Verdict {
        self.append_as(&lease, rows + 1, RunState::Completed).await?;
        self.release(lease).await
    }
}

/// The row that the suite writes at `sequence` of a run.
pub(super) fn row(id: &str, sequence: u64) -> Row {
    let payload = format!("{{\"{CANARY}\":\"{id} {sequence}\"}}");
    Row::new(&RunId::from(id), sequence, 1, payload)
}

/// Turns an error that had no business to be there into a verdict.
pub(super) fn unexpected(call: &'static str) -> impl Fn(StoreError) -> String {
    move |error| format!("{call} failed: {error}")
}

pub(super) fn ensure(kept: bool, what: impl FnOnce() -> String) -> Verdict {
    if kept { Ok(()) } else { Err(what()) }
}

/// Checks that `call` was refused with an error that `fits`, that it names the run, and that it holds no payload.
pub(super) fn refused<T>(
    call: &str,
    answer: Result<T, StoreError>,
    id: &str,
    expected: &str,
    fits: impl FnOnce(&StoreError) -> bool,
) -> Verdict {
    let Err(error) = answer else {
        return Err(format!("{call} went through; expected {expected}"));
    };
    ensure(fits(&error), || format!("{call} failed with `{error}`; expected {expected}"))?;
    let names_run = error.run_id().is_some_and(|run_id| *run_id == id);
    ensure(names_run, || format!("{call} failed with `{error}`, which does not name run `{id}`"))?;
    let hides = !format!("{error} {error:?}").contains(CANARY);
    ensure(hides, || format!("the error of {call} holds the payload"))
}

pub(super) fn lost(error: &StoreError) -> bool {
    matches!(error, StoreError::LeaseLost { .. })
}

pub(super) fn busy(error: &StoreError) -> bool {
    matches!(error, StoreError::Busy { .. })
}

pub(super) fn not_found(error: &StoreError) -> bool {
    matches!(error, StoreError::NotFound { .. })
}
