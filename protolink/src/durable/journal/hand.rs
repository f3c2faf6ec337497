//! The hand that writes a run's journal.

use std::sync::Arc;
use std::time::Duration;

use super::{Record, decode, encode};
use crate::durable::{Lease, NewRun, RunState, RunStore, StoreError};
use crate::ids::RunId;

/// The hand that writes a run's journal, under its lease.
pub(crate) struct Journal {
    store: Arc<dyn RunStore>,
    lease: Lease,
    sequence: u64,
    ttl: Duration,
    released: bool,
}

impl Journal {
    /// Begins a run with its first record.
    pub(crate) async fn create(
        store: Arc<dyn RunStore>,
        run: NewRun,
        record: &Record,
        ttl: Duration,
    ) -> Result<Self, StoreError> {
        let row = encode(&run.run_id, 1, record)?;
        let lease = store.create(run, row, ttl).await?;
        Ok(Self { store, lease, sequence: 1, ttl, released: false })
    }

    /// Takes a run over: nobody else can commit to it from here on.
    pub(crate) async fn acquire(
        store: Arc<dyn RunStore>,
        run_id: &RunId,
        ttl: Duration,
    ) -> Result<(Self, Vec<Record>), StoreError> {
        let lease = store.acquire(run_id, ttl).await?;
        let mut journal = Self { store, lease, sequence: 0, ttl, released: false };
        let records = match journal.store.load(run_id).await {
            Ok(stored) => {
                journal.sequence = stored.summary.rows;
                decode(&stored)
            }
            Err(error) => Err(error),
        };
        match records {
            Ok(records) => Ok((journal, records)),
            Err(error) => {
                journal.release().await;
                Err(error)
            }
        }
    }

    /// Commits a record.
    pub(crate) async fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        self.append_as(record, record.state(false)).await
    }

    /// Commits a record that leaves the run in this state.
    pub(crate) async fn append_as(&mut self, record: &Record, state: RunState) -> Result<(), StoreError> {
        let row = encode(self.lease.run_id(), self.sequence + 1, record)?;
        self.store.append(&self.lease, row, state).await?;
        self.sequence += 1;
        Ok(())
    }

    /// How many rows the run has.
    pub(crate) fn rows(&self) -> u64 {
        self.sequence
    }

    /// Gives the run back, so that it can be taken over at once.
    pub(crate) async fn release(&mut self) {
        if !self.released {
            self.released = true;
            // Where this fails the lease runs out by itself.
            let _ = self.store.release(self.lease.clone()).await;
        }
    }

    /// Lives as long as the run does, and renews the lease; it ends when the lease is lost.
    pub(crate) fn keep_alive(&self) -> impl Future<Output = ()> + Send + use<> {
        let (store, mut lease, ttl) = (Arc::clone(&self.store), self.lease.clone(), self.ttl);
        async move {
            loop {
                tokio::time::sleep(ttl / 3).await;
                match store.renew(&lease, ttl).await {
                    Ok(renewed) => lease = renewed,
                    // The next append will say so.
                    Err(StoreError::LeaseLost { .. }) => return,
                    // A store that is locked or full now may not be so in a moment.
                    Err(error) => tracing::warn!(run_id = %lease.run_id(), %error, "the lease could not be renewed"),
                }
            }
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A dropped run equals a crash, except that its lease is given back as far as that is possible (contract S7).
        if !self.released
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (store, lease) = (Arc::clone(&self.store), self.lease.clone());
            runtime.spawn(async move { store.release(lease).await });
        }
    }
}
