//! A store that is watched: it counts commits, and at one of them it fails, or the process dies.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use protolink::RunId;
use protolink::durable::{
    Lease, NewRun, Page, Row, RunFilter, RunPage, RunState, RunStore, StoreError, StoredRun, Timestamp,
};
use tokio::sync::Notify;

/// What goes wrong at a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The disk is full: nothing is committed.
    Full,
    /// The process dies before the commit.
    DiesBefore,
    /// The process dies after the commit.
    DiesAfter,
}

/// A store that counts commits, and has one mishap at most; clones share everything.
#[derive(Clone)]
pub struct Watched {
    store: Arc<dyn RunStore>,
    seen: Arc<Seen>,
}

struct Seen {
    commits: AtomicU64,
    loads: AtomicU64,
    lists: AtomicU64,
    rows: Mutex<Vec<String>>,
    /// The commit, counted from 1, and what happens at it.
    mishap: Option<(u64, Mishap)>,
    died: Notify,
}

impl Watched {
    /// Watches `store`.
    #[must_use]
    pub fn new(store: Arc<dyn RunStore>) -> Self {
        Self::with(store, None)
    }

    /// Watches `store`, and has a mishap at the commit `at`, counted from 1.
    #[must_use]
    pub fn with_mishap(store: Arc<dyn RunStore>, at: u64, mishap: Mishap) -> Self {
        Self::with(store, Some((at, mishap)))
    }

    fn with(store: Arc<dyn RunStore>, mishap: Option<(u64, Mishap)>) -> Self {
        let seen = Seen {
            commits: AtomicU64::new(0),
            loads: AtomicU64::new(0),
            lists: AtomicU64::new(0),
            rows: Mutex::default(),
            mishap,
            died: Notify::new(),
        };
        Self { store, seen: Arc::new(seen) }
    }

    /// How many commits there were.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.seen.commits.load(Ordering::SeqCst)
    }

    /// How often a run was read.
    #[must_use]
    pub fn loads(&self) -> u64 {
        self.seen.loads.load(Ordering::SeqCst)
    }

    /// How often runs were listed.
    #[must_use]
    pub fn lists(&self) -> u64 {
        self.seen.lists.load(Ordering::SeqCst)
    }

    /// What was committed, as text, in its order.
    #[must_use]
    pub fn rows(&self) -> Vec<String> {
        self.seen.rows.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs what uses the store until it ends, or until the process "dies": then it is dropped where it waits, and
    /// there is no output.
    pub async fn until_death<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            output = work => Some(output),
            () = self.seen.died.notified() => None,
        }
    }

    fn is_dead(&self) -> bool {
        self.seen.mishap.is_some_and(|(at, mishap)| mishap != Mishap::Full && self.commits() >= at)
    }

    /// A dead process does nothing more.
    async fn alive(&self) {
        if self.is_dead() {
            std::future::pending::<()>().await;
        }
    }

    async fn die(&self) {
        self.seen.died.notify_one();
        std::future::pending::<()>().await;
    }

    async fn commit<T>(
        &self,
        run_id: &RunId,
        payload: String,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.alive().await;
        let commit = self.seen.commits.fetch_add(1, Ordering::SeqCst) + 1;
        let mishap = self.seen.mishap.filter(|(at, _)| *at == commit).map(|(_, mishap)| mishap);
        match mishap {
            Some(Mishap::Full) => return Err(StoreError::Full { run_id: Some(run_id.clone()) }),
            Some(Mishap::DiesBefore) => self.die().await,
            Some(Mishap::DiesAfter) | None => {}
        }
        let done = work.await?;
        self.seen.rows.lock().unwrap_or_else(PoisonError::into_inner).push(payload);
        if mishap == Some(Mishap::DiesAfter) {
            self.die().await;
        }
        Ok(done)
    }
}

#[async_trait]
impl RunStore for Watched {
    async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError> {
        let (run_id, payload) = (run.run_id.clone(), first.payload.clone());
        self.commit(&run_id, payload, self.store.create(run, first, ttl)).await
    }

    async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError> {
        self.alive().await;
        self.store.acquire(run_id, ttl).await
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
        self.alive().await;
        self.store.renew(lease, ttl).await
    }

    async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError> {
        let payload = row.payload.clone();
        self.commit(lease.run_id(), payload, self.store.append(lease, row, state)).await
    }

    async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError> {
        self.alive().await;
        self.seen.loads.fetch_add(1, Ordering::SeqCst);
        self.store.load(run_id).await
    }

    async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError> {
        self.alive().await;
        self.seen.lists.fetch_add(1, Ordering::SeqCst);
        self.store.list(filter, page).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.alive().await;
        self.store.release(lease).await
    }

    async fn delete(&self, run_id: &RunId) -> Result<bool, StoreError> {
        self.store.delete(run_id).await
    }

    async fn prune(&self, ended_before: Timestamp) -> Result<u64, StoreError> {
        self.store.prune(ended_before).await
    }
}
