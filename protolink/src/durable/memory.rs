//! A store that lives as long as the process.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::lease::{Holding, default_owner, lost};
use super::{
    Clock, Cursor, Lease, NewRun, Order, Page, Row, RunFilter, RunPage, RunState, RunStore, RunSummary, StoreError,
    StoredRun, SystemClock, Timestamp,
};
use crate::ids::RunId;

/// Keeps runs in memory, for tests and for agents that need pauses but no crash safety.
///
/// It keeps every rule of [`RunStore`] except that it forgets all when its last clone goes. Clones share the runs.
///
/// ```
/// use protolink::RunId;
/// use protolink::durable::{MemoryStore, NewRun, Row, RunStore};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), protolink::durable::StoreError> {
/// let store = MemoryStore::new();
/// let run = RunId::from("order-4711");
/// let first = Row::new(&run, 1, 1, "{}");
/// let lease = store.create(NewRun::new(&run, "helper"), first, Duration::from_secs(30)).await?;
/// assert_eq!(store.load(&run).await?.rows.len(), 1);
/// store.release(lease).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    runs: Arc<Mutex<Runs>>,
    clock: Arc<dyn Clock>,
    owner: Arc<str>,
}

#[derive(Default)]
struct Runs {
    /// By the order of creation, which is the order of a listing.
    by_place: BTreeMap<u64, Run>,
    places: HashMap<RunId, u64>,
    last_place: u64,
    last_epoch: u64,
    commits: u64,
}

struct Run {
    stored: StoredRun,
    holding: Holding,
}

impl MemoryStore {
    /// An empty store on the clock of the operating system.
    #[must_use]
    pub fn new() -> Self {
        Self { runs: Arc::default(), clock: Arc::new(SystemClock), owner: default_owner().into() }
    }

    /// Takes the time from `clock`.
    ///
    /// ```
    /// use protolink::durable::MemoryStore;
    /// use protolink::testing::ManualClock;
    ///
    /// let clock = ManualClock::new();
    /// let store = MemoryStore::new().with_clock(clock.clone());
    /// # let _ = store;
    /// ```
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Names the worker in the leases that this handle takes.
    ///
    /// ```
    /// use protolink::durable::MemoryStore;
    ///
    /// let (first, second) =
    ///     (MemoryStore::new().with_owner("worker-1"), MemoryStore::new().with_owner("worker-2"));
    /// # let _ = (first, second);
    /// ```
    #[must_use]
    pub fn with_owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = owner.into().into();
        self
    }

    /// How many rows have been committed, by all clones together.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.lock().commits
    }

    /// A panic elsewhere cannot leave the runs half changed: every method checks first and then changes.
    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.lock();
        f.debug_struct("MemoryStore")
            .field("runs", &runs.by_place.len())
            .field("commits", &runs.commits)
            .finish_non_exhaustive()
    }
}

impl Runs {
    fn next_epoch(&mut self) -> u64 {
        self.last_epoch += 1;
        self.last_epoch
    }

    fn find(&mut self, run_id: &RunId) -> Option<&mut Run> {
        self.by_place.get_mut(self.places.get(run_id)?)
    }

    fn remove(&mut self, place: u64) {
        if let Some(run) = self.by_place.remove(&place) {
            self.places.remove(&run.stored.summary.run_id);
        }
    }
}

#[async_trait]
impl RunStore for MemoryStore {
    async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError> {
        let mut runs = self.lock();
        let run_id = run.run_id.clone();
        if runs.places.contains_key(&run_id) {
            return Err(StoreError::Exists { run_id });
        }
        if first.sequence != 1 {
            return Err(StoreError::Conflict { run_id, sequence: first.sequence, expected: 1 });
        }
        let now = self.clock.now();
        let holding = Holding::grant(runs.next_epoch(), &self.owner, now, ttl);
        let lease = holding.lease(&run_id);
        let stored = StoredRun::new(RunSummary::new(run, now), vec![first]);
        runs.last_place += 1;
        let place = runs.last_place;
        runs.places.insert(run_id, place);
        runs.by_place.insert(place, Run { stored, holding });
        runs.commits += 1;
        Ok(lease)
    }

    async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError> {
        let mut runs = self.lock();
        let epoch = runs.next_epoch();
        let run = runs.find(run_id).ok_or_else(|| StoreError::NotFound { run_id: run_id.clone() })?;
        let now = self.clock.now();
        run.holding.follow_clock_back(now);
        run.holding.refuse_while_live(run_id, now)?;
        run.holding = Holding::grant(epoch, &self.owner, now, ttl);
        Ok(run.holding.lease(run_id))
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
        let mut runs = self.lock();
        let run = runs.find(lease.run_id()).ok_or_else(|| lost(lease))?;
        run.holding.renew(lease, self.clock.now(), ttl)
    }

    async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError> {
        let mut runs = self.lock();
        let now = self.clock.now();
        let run = runs.find(lease.run_id()).ok_or_else(|| lost(lease))?;
        run.holding.check(lease, now)?;
        let expected = run.stored.summary.rows + 1;
        if row.sequence != expected {
            let run_id = lease.run_id().clone();
            return Err(StoreError::Conflict { run_id, sequence: row.sequence, expected });
        }
        run.stored.rows.push(row);
        run.stored.summary.appended(state, now);
        runs.commits += 1;
        Ok(())
    }

    async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError> {
        let mut runs = self.lock();
        let run = runs.find(run_id).ok_or_else(|| StoreError::NotFound { run_id: run_id.clone() })?;
        Ok(run.stored.clone())
    }

    async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError> {
        let after = match &page.after {
            None => None,
            Some(cursor) => Some(cursor.as_str().parse::<u64>().map_err(|_| StoreError::BadCursor)?),
        };
        let runs = self.lock();
        let behind = |place: &u64| match (after, page.order) {
            (None, _) => true,
            (Some(after), Order::OldestFirst) => *place > after,
            (Some(after), Order::NewestFirst) => *place < after,
        };
        let mut found = runs
            .by_place
            .iter()
            .filter(|(place, run)| behind(place) && filter.matches(&run.stored.summary))
            .collect::<Vec<_>>();
        if page.order == Order::NewestFirst {
            found.reverse();
        }
        let limit = usize::try_from(page.limit.max(1)).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(place, _)| Cursor::from(place.to_string()));
        Ok(RunPage::new(found.iter().map(|(_, run)| run.stored.summary.clone()).collect(), next))
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        if let Some(run) = self.lock().find(lease.run_id()) {
            run.holding.release(&lease);
        }
        Ok(())
    }

    async fn delete(&self, run_id: &RunId) -> Result<bool, StoreError> {
        let mut runs = self.lock();
        let Some(run) = runs.find(run_id) else {
            return Ok(false);
        };
        run.holding.refuse_while_live(run_id, self.clock.now())?;
        if let Some(place) = runs.places.get(run_id).copied() {
            runs.remove(place);
        }
        Ok(true)
    }

    async fn prune(&self, ended_before: Timestamp) -> Result<u64, StoreError> {
        let now = self.clock.now();
        let mut runs = self.lock();
        let ended = runs
            .by_place
            .iter()
            .filter(|(_, run)| {
                run.stored.summary.ended_at.is_some_and(|ended| ended < ended_before) && run.holding.live(now).is_none()
            })
            .map(|(place, _)| *place)
            .collect::<Vec<_>>();
        for place in &ended {
            runs.remove(*place);
        }
        Ok(ended.len() as u64)
    }
}
