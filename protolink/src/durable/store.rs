//! What a store of runs promises.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{Lease, Page, Row, RunFilter, RunPage, StoreError, Timestamp};
use crate::ids::RunId;

/// A place where runs are kept: one append-only journal a run, one owner a run, one transaction an append.
///
/// [`MemoryStore`](super::MemoryStore) and `SqliteStore` (feature `sqlite`) are two. Any other is checked by
/// [`testing::store_suite`](crate::testing::store_suite), which has a rule for each sentence below.
///
/// What every method keeps:
/// - It takes effect wholly or not at all, and returns `Ok` only when the effect is durable.
/// - A caller that stops waiting (drops the future) may find the effect done or not done, never half done.
/// - Its error names the run and holds no payload.
///
/// ```
/// use protolink::async_trait;
/// use protolink::durable::{
///     Lease, MemoryStore, NewRun, Page, Row, RunFilter, RunPage, RunState, RunStore, StoreError, StoredRun, Timestamp,
/// };
/// use protolink::{RunId, testing::store_suite};
/// use std::time::Duration;
///
/// /// A store around another one, which says what is committed.
/// struct Noisy<S>(S);
///
/// #[async_trait]
/// impl<S: RunStore> RunStore for Noisy<S> {
///     async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError> {
///         println!("{} begins", run.run_id);
///         self.0.create(run, first, ttl).await
///     }
///
///     async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError> {
///         println!("{} is {state} after row {}", lease.run_id(), row.sequence);
///         self.0.append(lease, row, state).await
///     }
///
/// #     async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError> {
/// #         self.0.acquire(run_id, ttl).await
/// #     }
/// #     async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
/// #         self.0.renew(lease, ttl).await
/// #     }
/// #     async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError> {
/// #         self.0.load(run_id).await
/// #     }
/// #     async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError> {
/// #         self.0.list(filter, page).await
/// #     }
/// #     async fn release(&self, lease: Lease) -> Result<(), StoreError> {
/// #         self.0.release(lease).await
/// #     }
/// #     async fn delete(&self, run_id: &RunId) -> Result<bool, StoreError> {
/// #         self.0.delete(run_id).await
/// #     }
///     // .. `acquire`, `renew`, `load`, `list`, `release` and `delete` in the same way
///     async fn prune(&self, ended_before: Timestamp) -> Result<u64, StoreError> {
///         self.0.prune(ended_before).await
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Whether it keeps the rules is tested like this.
/// store_suite::run_on_clock(async |clock| Noisy(MemoryStore::new().with_clock(clock))).await?;
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait RunStore: Send + Sync + 'static {
    /// Begins a run with its first row, in state [`RunState::Running`], leased to the caller for `ttl`.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when the id is taken; [`StoreError::Conflict`] when `first` is not row 1.
    async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError>;

    /// Leases a run to the caller for `ttl`, under an epoch higher than any that the store has granted.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Busy`] while another lease is live. A lease granted by a clock that has
    /// been set back since runs out no later than its own length from now.
    async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError>;

    /// Lets a lease run for `ttl` from now, under its epoch. The lease given stays as good as the one returned.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] when the lease has run out, was released, or is not the run's newest.
    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError>;

    /// Commits the next row of the leased run, and the state that the run is in with it. The lease is as long as before.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] as for [`renew`](Self::renew), before anything else is looked at;
    /// [`StoreError::Conflict`] when the row's sequence is not the last one plus one.
    async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError>;

    /// Reads a whole run, leased or not: what was committed before the call, and nothing half committed.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Damaged`] where the store itself can tell. The rows' checksums are
    /// the caller's to check, see [`StoredRun::verify`].
    async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError>;

    /// Lists runs in the order in which they were created, whatever the clock said then.
    ///
    /// # Errors
    /// [`StoreError::BadCursor`] when the page's cursor is not one of this store.
    async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError>;

    /// Gives a lease back, so that the run can be acquired at once. A lease that holds nothing any more is no error,
    /// and changes nothing.
    ///
    /// # Errors
    /// None of its own.
    async fn release(&self, lease: Lease) -> Result<(), StoreError>;

    /// Deletes a run and its rows for good; whether there was one.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while a lease is live.
    async fn delete(&self, run_id: &RunId) -> Result<bool, StoreError>;

    /// Deletes the runs that ended before `ended_before` and that nobody holds; how many there were.
    /// A run that is running or paused stays, however old.
    ///
    /// # Errors
    /// None of its own.
    async fn prune(&self, ended_before: Timestamp) -> Result<u64, StoreError>;
}

#[async_trait]
impl<S: RunStore + ?Sized> RunStore for Arc<S> {
    async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError> {
        (**self).create(run, first, ttl).await
    }

    async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError> {
        (**self).acquire(run_id, ttl).await
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
        (**self).renew(lease, ttl).await
    }

    async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError> {
        (**self).append(lease, row, state).await
    }

    async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError> {
        (**self).load(run_id).await
    }

    async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError> {
        (**self).list(filter, page).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        (**self).release(lease).await
    }

    async fn delete(&self, run_id: &RunId) -> Result<bool, StoreError> {
        (**self).delete(run_id).await
    }

    async fn prune(&self, ended_before: Timestamp) -> Result<u64, StoreError> {
        (**self).prune(ended_before).await
    }
}

/// What is known of a run before it begins.
///
/// ```
/// use protolink::durable::NewRun;
///
/// let mut run = NewRun::new("order-4711", "helper");
/// run.labels.insert("tenant".to_owned(), "acme".to_owned());
/// assert_eq!(run.conversation, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewRun {
    /// The run's id.
    pub run_id: RunId,
    /// The name of its agent.
    pub agent: String,
    /// The conversation that it belongs to.
    pub conversation: Option<String>,
    /// What the application wants to find it by.
    pub labels: BTreeMap<String, String>,
}

impl NewRun {
    /// A run of the agent named `agent`, without conversation and labels.
    #[must_use]
    pub fn new(run_id: impl Into<RunId>, agent: impl Into<String>) -> Self {
        Self { run_id: run_id.into(), agent: agent.into(), conversation: None, labels: BTreeMap::new() }
    }
}

/// Where a run stands, as its last commit left it.
///
/// ```
/// use protolink::durable::RunState;
///
/// assert!(RunState::Failed.is_ended() && !RunState::Paused.is_ended());
/// assert_eq!("paused".parse(), Ok(RunState::Paused));
/// assert_eq!(RunState::Paused.as_str(), "paused");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunState {
    /// Under way, or interrupted by a crash.
    Running,
    /// Waiting for an approval or an answer.
    Paused,
    /// Ended with an answer.
    Completed,
    /// Ended with an error; a resume may take it up again.
    Failed,
    /// Ended because it was cancelled.
    Cancelled,
}

impl RunState {
    /// Whether nothing more happens to the run by itself.
    #[must_use]
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// The state in one lower-case word, as a store may keep it; [`FromStr`] reads it back.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for RunState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        [Self::Running, Self::Paused, Self::Completed, Self::Failed, Self::Cancelled]
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or(UnknownState)
    }
}

/// A word that names no [`RunState`].
///
/// ```
/// use protolink::durable::{RunState, UnknownState};
///
/// assert_eq!("asleep".parse::<RunState>(), Err(UnknownState));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such run state")]
pub struct UnknownState;

/// What a store tells of a run without reading its rows.
///
/// ```
/// use protolink::durable::{NewRun, RunState, RunSummary, Timestamp};
///
/// // As a store of your own keeps it.
/// let mut summary =
///     RunSummary::new(NewRun::new("order-4711", "helper"), Timestamp::from_millis(1_000));
/// summary.appended(RunState::Completed, Timestamp::from_millis(2_000));
/// assert_eq!((summary.rows, summary.state), (2, RunState::Completed));
/// assert_eq!(summary.ended_at, Some(Timestamp::from_millis(2_000)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunSummary {
    /// The run's id.
    pub run_id: RunId,
    /// The name of its agent.
    pub agent: String,
    /// The conversation that it belongs to.
    pub conversation: Option<String>,
    /// What the application wants to find it by.
    pub labels: BTreeMap<String, String>,
    /// Where it stands.
    pub state: RunState,
    /// How many rows it has, which is also the sequence of the last.
    pub rows: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When its last row was committed.
    pub updated_at: Timestamp,
    /// When it ended, if it has.
    pub ended_at: Option<Timestamp>,
}

impl RunSummary {
    /// The summary of `run` right after its first row, committed at `now`.
    #[must_use]
    pub fn new(run: NewRun, now: Timestamp) -> Self {
        Self {
            run_id: run.run_id,
            agent: run.agent,
            conversation: run.conversation,
            labels: run.labels,
            state: RunState::Running,
            rows: 1,
            created_at: now,
            updated_at: now,
            ended_at: None,
        }
    }

    /// Takes note of one more row, committed at `now` with the run in `state`.
    pub fn appended(&mut self, state: RunState, now: Timestamp) {
        self.rows += 1;
        self.state = state;
        self.updated_at = now;
        self.ended_at = state.is_ended().then_some(now);
    }
}

/// A run as a store holds it.
///
/// ```
/// use protolink::RunId;
/// use protolink::durable::{NewRun, Row, RunSummary, StoreError, StoredRun, Timestamp};
///
/// let run = RunId::from("order-4711");
/// let summary = RunSummary::new(NewRun::new(&run, "helper"), Timestamp::from_millis(0));
/// let whole = StoredRun::new(summary.clone(), vec![Row::new(&run, 1, 1, "{}")]);
/// assert!(whole.verify().is_ok());
///
/// let lost = StoredRun::new(summary, Vec::new());
/// assert!(matches!(lost.verify(), Err(StoreError::Damaged { sequence: Some(1), .. })));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredRun {
    /// The run without its rows.
    pub summary: RunSummary,
    /// The rows in their order.
    pub rows: Vec<Row>,
}

impl StoredRun {
    /// A run with its rows.
    #[must_use]
    pub fn new(summary: RunSummary, rows: Vec<Row>) -> Self {
        Self { summary, rows }
    }

    /// Checks that all rows are there, in their order, as they were written.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] with the first row that is missing or has another checksum.
    pub fn verify(&self) -> Result<(), StoreError> {
        let damaged = |sequence, reason: String| StoreError::Damaged {
            run_id: self.summary.run_id.clone(),
            sequence: Some(sequence),
            reason,
        };
        for (expected, row) in (1..).zip(&self.rows) {
            if row.sequence != expected {
                return Err(damaged(expected, format!("row {} stands in its place", row.sequence)));
            }
            row.verify(&self.summary.run_id).map_err(|damage| damaged(expected, damage.to_string()))?;
        }
        let found = self.rows.len() as u64;
        if found == self.summary.rows {
            Ok(())
        } else {
            let rows = self.summary.rows;
            Err(damaged(found.min(rows) + 1, format!("{found} rows are there of {rows}")))
        }
    }
}
