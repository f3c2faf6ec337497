//! A store in one SQLite file.

mod change;
mod fault;
mod options;
mod reader;
mod record;
mod schema;
mod threads;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::oneshot;

use self::change::Grant;
pub use self::options::SqliteOptions;
use self::threads::Threads;
use self::writer::{Figures, Job};
use super::{
    Clock, Lease, NewRun, Page, Row, RunFilter, RunPage, RunState, RunStore, StoreError, StoredRun, Timestamp,
};
use crate::ids::RunId;

/// Keeps runs in one SQLite file that survives the process, and the machine's power failing.
///
/// One thread writes, and commits in one transaction whatever is waiting when it looks, so that many runs share the
/// disk's one slow operation; other threads read beside it. None of it needs a runtime of a certain kind. Several
/// processes can use one file on a local disk. Clones share the threads; when the last clone goes, what was sent is
/// written first.
///
/// ```
/// use protolink::durable::{RunFilter, RunStore, SqliteStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("runs.sqlite");
/// let store = SqliteStore::open(path)?;
/// assert!(store.list(&RunFilter::new(), Default::default()).await?.runs.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    threads: Arc<Threads>,
    figures: Arc<Figures>,
    clock: Arc<dyn Clock>,
    owner: Arc<str>,
}

impl SqliteStore {
    /// Opens the store in the file at `path`, and makes the file (for its owner's eyes only, on Unix) if there is none.
    ///
    /// ```
    /// # use protolink::durable::SqliteStore;
    /// use protolink::prelude::*;
    /// use protolink::testing::{Reply, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("runs.sqlite");
    ///
    /// let store = SqliteStore::open(&path)?;
    /// let model = ScriptedModel::new([Reply::text("done")]);
    /// let agent = Agent::builder("a").model(model).durable(store).build()?;
    /// agent.run("Go.").run_id("r-1").await?;
    ///
    /// // Another process opens the same file, and finds the run.
    /// let store = SqliteStore::open(&path)?;
    /// let agent = Agent::builder("a").model(ScriptedModel::new([])).durable(store).build()?;
    /// assert_eq!(agent.resume("r-1").await?.answer().map(Answer::text), Some("done"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`StoreError::Foreign`] when the file is something else, [`StoreError::NewerStore`] when a newer version laid
    /// it out, [`StoreError::StoreDamaged`] when its tables are not as they were, [`StoreError::ReadOnly`] when it
    /// cannot be written, [`StoreError::Locked`] when another process keeps it, [`StoreError::Io`] for the rest.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::options().open(path)
    }

    /// Says how to open a store, where the usual way does not do.
    ///
    /// ```
    /// # use protolink::durable::SqliteStore;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("runs.sqlite");
    /// let store = SqliteStore::options().max_bytes(1 << 30).open(path)?;
    /// # drop(store);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn options() -> SqliteOptions {
        SqliteOptions::new()
    }

    /// Takes the time from `clock`.
    ///
    /// ```
    /// # use protolink::durable::SqliteStore;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("runs.sqlite");
    /// let store = SqliteStore::open(path)?.with_clock(protolink::testing::ManualClock::new());
    /// # drop(store);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Names the worker in the leases that this handle takes.
    ///
    /// ```
    /// # use protolink::durable::SqliteStore;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("runs.sqlite");
    /// let store = SqliteStore::open(path)?.with_owner("worker-1");
    /// # drop(store);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = owner.into().into();
        self
    }

    /// How many rows this store and its clones have committed.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.figures.rows.load(Ordering::SeqCst)
    }

    /// How many transactions that took; leases and deletions count here too.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.figures.transactions.load(Ordering::SeqCst)
    }

    /// Has the writing thread make a change.
    async fn change<T, W>(&self, about: About, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let closed = StoreError::Closed { run_id: about.run_id.clone() };
        let About { run_id, bytes, rows } = about;
        self.threads.change(Box::new(Job { run_id, bytes, rows, work, said: None, answer }));
        writer::told(answered, &self.figures).await.unwrap_or(Err(closed))
    }

    /// Has a reading thread read something.
    async fn read<T, W>(&self, run_id: Option<&RunId>, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        self.threads.read(Box::new(move |connection| {
            drop(answer.send(work(connection)));
        }));
        answered.await.unwrap_or_else(|_| Err(StoreError::Closed { run_id: run_id.cloned() }))
    }
}

/// What a change is about, for errors and for the size of its transaction.
#[derive(Clone, Default)]
struct About {
    run_id: Option<RunId>,
    bytes: usize,
    rows: u64,
}

impl About {
    fn run(run_id: &RunId) -> Self {
        Self { run_id: Some(run_id.clone()), ..Self::default() }
    }

    fn row(run_id: &RunId, row: &Row) -> Self {
        Self { bytes: row.payload.len(), rows: 1, ..Self::run(run_id) }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("owner", &self.owner)
            .field("commits", &self.commits())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl RunStore for SqliteStore {
    async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError> {
        let (clock, owner) = (self.clock.clone(), self.owner.clone());
        let run_id = run.run_id.clone();
        let about = About::row(&run_id, &first);
        self.change(about, move |connection| {
            let grant = Grant { clock: &*clock, owner: &owner, ttl };
            change::create(connection, &run, &first, grant)
        })
        .await
    }

    async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError> {
        let (clock, owner, wanted) = (self.clock.clone(), self.owner.clone(), run_id.clone());
        self.change(About::run(run_id), move |connection| {
            let grant = Grant { clock: &*clock, owner: &owner, ttl };
            change::acquire(connection, &wanted, grant)
        })
        .await?
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
        let (clock, held) = (self.clock.clone(), lease.clone());
        self.change(About::run(lease.run_id()), move |connection| change::renew(connection, &held, &*clock, ttl)).await
    }

    async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError> {
        let (clock, held) = (self.clock.clone(), lease.clone());
        let about = About::row(lease.run_id(), &row);
        self.change(about, move |connection| change::append(connection, &held, &row, state, &*clock)).await
    }

    async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError> {
        let wanted = run_id.clone();
        self.read(Some(run_id), move |connection| reader::load(connection, &wanted)).await
    }

    async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError> {
        let filter = filter.clone();
        self.read(None, move |connection| reader::list(connection, &filter, &page)).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        let run_id = lease.run_id().clone();
        self.change(About::run(&run_id), move |connection| change::release(connection, &lease)).await
    }

    async fn delete(&self, run_id: &RunId) -> Result<bool, StoreError> {
        let (clock, unwanted) = (self.clock.clone(), run_id.clone());
        self.change(About::run(run_id), move |connection| change::delete(connection, &unwanted, &*clock)).await
    }

    async fn prune(&self, ended_before: Timestamp) -> Result<u64, StoreError> {
        let mut pruned = 0;
        loop {
            let clock = self.clock.clone();
            let deleted = self
                .change(About::default(), move |connection| change::prune(connection, ended_before, &*clock))
                .await?;
            pruned += deleted;
            if deleted < change::PRUNED_AT_ONCE {
                return Ok(pruned);
            }
        }
    }
}
