//! Who may commit to a run, and until when.

use std::time::Duration;

use super::{StoreError, Timestamp};
use crate::ids::RunId;

/// The right to commit to one run, granted by a store for a time.
///
/// The epoch is what counts: a store grants each lease under a higher epoch than any before, and refuses a commit
/// under a lease that is not the run's newest. The lease is the store's word; a caller only carries it around.
///
/// ```
/// use protolink::RunId;
/// use protolink::durable::{Lease, MemoryStore, NewRun, Row, RunStore};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new().with_owner("worker-1");
/// let run = RunId::from("order-4711");
/// let first = Row::new(&run, 1, 1, "{}");
/// let lease: Lease =
///     store.create(NewRun::new(&run, "helper"), first, Duration::from_secs(30)).await?;
/// assert_eq!((lease.run_id(), lease.owner()), (&run, "worker-1"));
///
/// // Whoever takes the run over has a higher epoch, and the old lease commits nothing.
/// let epoch = lease.epoch();
/// store.release(lease).await?;
/// assert!(store.acquire(&run, Duration::from_secs(30)).await?.epoch() > epoch);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    run_id: RunId,
    epoch: u64,
    owner: String,
    expires_at: Timestamp,
}

impl Lease {
    /// Writes down a lease; for implementors of [`RunStore`](super::RunStore).
    #[must_use]
    pub fn new(run_id: RunId, epoch: u64, owner: impl Into<String>, expires_at: Timestamp) -> Self {
        Self { run_id, epoch, owner: owner.into(), expires_at }
    }

    /// The run that may be committed to.
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// The number of this lease; no lease of the store ever has it again.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The name of the worker that holds the lease, for people to read.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// When the lease runs out by the store's clock, unless it is renewed.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.expires_at
    }
}

/// What a store remembers of a run's newest lease. Both stores decide by it, so that they decide alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holding {
    pub(super) epoch: u64,
    /// Nobody after a release.
    pub(super) holder: Option<Holder>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) owner: String,
    pub(super) granted_at: Timestamp,
    pub(super) expires_at: Timestamp,
}

impl Holding {
    pub(super) fn grant(epoch: u64, owner: &str, now: Timestamp, ttl: Duration) -> Self {
        let holder = Holder { owner: owner.to_owned(), granted_at: now, expires_at: now.after(ttl) };
        Self { epoch, holder: Some(holder) }
    }

    /// The live holder, if there is one.
    pub(super) fn live(&self, now: Timestamp) -> Option<&Holder> {
        self.holder.as_ref().filter(|holder| now < holder.expires_at)
    }

    /// Says who is in the way at `now`.
    pub(super) fn refuse_while_live(&self, run_id: &RunId, now: Timestamp) -> Result<(), StoreError> {
        match self.live(now) {
            None => Ok(()),
            Some(holder) => {
                Err(StoreError::Busy { run_id: run_id.clone(), owner: holder.owner.clone(), until: holder.expires_at })
            }
        }
    }

    /// Counts the lease anew from `now` if it was granted later than that, which only a clock set back can show.
    ///
    /// Without it, a worker that died before a clock was set back by a year would hold its run for that year.
    /// Returns whether anything changed.
    pub(super) fn follow_clock_back(&mut self, now: Timestamp) -> bool {
        match &mut self.holder {
            Some(holder) if now < holder.granted_at => {
                let ttl = holder.expires_at.since(holder.granted_at);
                holder.granted_at = now;
                holder.expires_at = now.after(ttl);
                true
            }
            _ => false,
        }
    }

    /// Checks that `lease` is the newest and still runs.
    pub(super) fn check(&self, lease: &Lease, now: Timestamp) -> Result<(), StoreError> {
        if self.epoch == lease.epoch() && self.live(now).is_some() { Ok(()) } else { Err(lost(lease)) }
    }

    pub(super) fn renew(&mut self, lease: &Lease, now: Timestamp, ttl: Duration) -> Result<Lease, StoreError> {
        self.check(lease, now)?;
        *self = Self::grant(self.epoch, lease.owner(), now, ttl);
        Ok(self.lease(lease.run_id()))
    }

    /// Frees the run if `lease` is still the newest. Returns whether anything changed.
    pub(super) fn release(&mut self, lease: &Lease) -> bool {
        self.epoch == lease.epoch() && self.holder.take().is_some()
    }

    /// The lease as its holder gets it.
    pub(super) fn lease(&self, run_id: &RunId) -> Lease {
        let (owner, expires_at) = match &self.holder {
            Some(holder) => (holder.owner.clone(), holder.expires_at),
            None => (String::new(), Timestamp::default()),
        };
        Lease::new(run_id.clone(), self.epoch, owner, expires_at)
    }
}

pub(super) fn lost(lease: &Lease) -> StoreError {
    StoreError::LeaseLost { run_id: lease.run_id().clone(), epoch: lease.epoch() }
}

/// A name for the worker behind a store that was given none.
pub(super) fn default_owner() -> String {
    let unique = crate::ids::new_uuid().simple().to_string();
    format!("process {} ({})", std::process::id(), &unique[unique.len() - 8..])
}
