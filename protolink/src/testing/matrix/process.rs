//! A process that uses a store, and may die at one of its commits.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;

use super::case::{CrashPoint, Moment};
use super::ledger::Ledger;
use crate::durable::{
    Lease, NewRun, Page, Row, RunFilter, RunPage, RunState, RunStore, StoreError, StoredRun, Timestamp,
};
use crate::ids::RunId;

/// The store as one process sees it; clones are the same process.
#[derive(Clone)]
pub(super) struct Process {
    store: Arc<dyn RunStore>,
    ledger: Ledger,
    shared: Arc<Shared>,
}

struct Shared {
    crash: Option<CrashPoint>,
    dead: AtomicBool,
    died: Notify,
    /// What it holds, so that nobody has to wait for its lease to run out.
    lease: Mutex<Option<Lease>>,
}

impl Process {
    pub(super) fn new(store: Arc<dyn RunStore>, ledger: Ledger, crash: Option<CrashPoint>) -> Self {
        let shared = Shared { crash, dead: AtomicBool::new(false), died: Notify::new(), lease: Mutex::default() };
        Self { store, ledger, shared: Arc::new(shared) }
    }

    /// Runs what the process does to its end; `None` where it died before: it is dropped where it stood.
    pub(super) async fn live<T>(&self, work: impl Future<Output = T>) -> Result<Option<T>, StoreError> {
        let output = {
            let (mut died, mut work) = (pin!(self.shared.died.notified()), pin!(work));
            poll_fn(|context| match died.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(None),
                Poll::Pending => work.as_mut().poll(context).map(Some),
            })
            .await
        };
        if output.is_none() {
            let lease = self.shared.lease.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(lease) = lease {
                self.store.release(lease).await?;
            }
        }
        Ok(output)
    }

    /// The dead do nothing more.
    async fn alive(&self) {
        if self.shared.dead.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    async fn die(&self) {
        self.shared.dead.store(true, Ordering::SeqCst);
        self.shared.died.notify_one();
        std::future::pending::<()>().await;
    }

    fn hold(&self, lease: &Lease) {
        *self.shared.lease.lock().unwrap_or_else(PoisonError::into_inner) = Some(lease.clone());
    }

    async fn commit<T>(
        &self,
        payload: String,
        work: impl Future<Output = Result<T, StoreError>>,
        holds: impl FnOnce(&T),
    ) -> Result<T, StoreError> {
        self.alive().await;
        let commit = self.ledger.commit();
        let crash = self.shared.crash.filter(|crash| crash.commit == commit).map(|crash| crash.moment);
        if crash == Some(Moment::Before) {
            self.die().await;
        }
        let done = work.await?;
        holds(&done);
        self.ledger.committed(&payload);
        if crash == Some(Moment::After) {
            self.die().await;
        }
        Ok(done)
    }
}

#[async_trait]
impl RunStore for Process {
    async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError> {
        let payload = first.payload.clone();
        self.commit(payload, self.store.create(run, first, ttl), |lease| self.hold(lease)).await
    }

    async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError> {
        self.alive().await;
        let lease = self.store.acquire(run_id, ttl).await?;
        self.hold(&lease);
        Ok(lease)
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
        self.alive().await;
        self.store.renew(lease, ttl).await
    }

    async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError> {
        let payload = row.payload.clone();
        self.commit(payload, self.store.append(lease, row, state), |()| ()).await
    }

    async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError> {
        self.alive().await;
        self.store.load(run_id).await
    }

    async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError> {
        self.alive().await;
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
