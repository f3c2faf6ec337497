//! Why a store refused or failed.

use std::error::Error;
use std::fmt;

use super::Timestamp;
use crate::ids::RunId;

/// Why a store refused or failed, naming the run wherever one is concerned. It never holds a payload.
///
/// ```
/// use protolink::RunId;
/// use protolink::durable::{MemoryStore, RunStore, StoreError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let missing =
///     MemoryStore::new().load(&RunId::from("order-4711")).await.err().ok_or("it is empty")?;
/// assert!(matches!(missing, StoreError::NotFound { .. }));
/// assert_eq!(missing.run_id().map(RunId::as_str), Some("order-4711"));
///
/// // What a store of your own gives for all that is none of the others.
/// let broken = StoreError::io(
///     Some(&RunId::from("order-4711")),
///     std::io::Error::other("the disk is gone"),
/// );
/// assert!(broken.run_id().is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another worker holds the run.
    #[error("run `{run_id}` is leased to `{owner}` until {until}")]
    Busy {
        /// The run.
        run_id: RunId,
        /// The worker that holds it.
        owner: String,
        /// When its lease runs out, unless it is renewed.
        until: Timestamp,
    },

    /// The lease ran out, or another worker took the run: nothing was committed.
    #[error("the lease {epoch} on run `{run_id}` is lost; nothing was committed under it")]
    LeaseLost {
        /// The run.
        run_id: RunId,
        /// The epoch of the lost lease.
        epoch: u64,
    },

    /// The store has no such run.
    #[error("there is no run `{run_id}`")]
    NotFound {
        /// The run that was asked for.
        run_id: RunId,
    },

    /// The store has a run of that name already.
    #[error("there is a run `{run_id}` already")]
    Exists {
        /// The name that is taken.
        run_id: RunId,
    },

    /// The row is not the next one of its run: nothing was committed.
    #[error("run `{run_id}` goes on with row {expected}, not with row {sequence}")]
    Conflict {
        /// The run.
        run_id: RunId,
        /// The sequence of the row that was refused.
        sequence: u64,
        /// The sequence that comes next.
        expected: u64,
    },

    /// What the store holds of the run is not what was written.
    #[error("run `{run_id}` is damaged{}: {reason}", at(*sequence))]
    Damaged {
        /// The run.
        run_id: RunId,
        /// The row, where the damage is known to be in one.
        sequence: Option<u64>,
        /// What is wrong, without any of the content.
        reason: String,
    },

    /// The store itself is damaged, in a place that belongs to no one run.
    #[error("the store is damaged: {reason}")]
    StoreDamaged {
        /// What is wrong.
        reason: String,
    },

    /// A row was written by a newer version.
    #[error("row {sequence} of run `{run_id}` has the format {found}; this version reads formats up to {supported}")]
    NewerVersion {
        /// The run.
        run_id: RunId,
        /// The row.
        sequence: u64,
        /// The format of the row.
        found: u32,
        /// The newest format that can be read.
        supported: u32,
    },

    /// The store was laid out by a newer version.
    #[error("the store has the layout {found}; this version reads layouts up to {supported}")]
    NewerStore {
        /// The layout of the store.
        found: u32,
        /// The newest layout that can be read.
        supported: u32,
    },

    /// The file or database is not a run store.
    #[error("this is not a run store: {reason}")]
    Foreign {
        /// What it is instead, as far as one can tell.
        reason: String,
    },

    /// There is no room left: nothing was committed.
    #[error("the store is full{}", of(run_id.as_ref()))]
    Full {
        /// The run that needed the room.
        run_id: Option<RunId>,
    },

    /// The store cannot be written to: nothing was committed.
    #[error("the store is read-only{}", of(run_id.as_ref()))]
    ReadOnly {
        /// The run that was to be written.
        run_id: Option<RunId>,
    },

    /// Somebody else kept the whole store locked for longer than the store waits: nothing was committed.
    #[error("the store is locked by somebody else{}", of(run_id.as_ref()))]
    Locked {
        /// The run that was to be read or written.
        run_id: Option<RunId>,
    },

    /// The row is larger than the store can hold: nothing was committed.
    #[error("row {sequence} of run `{run_id}` is too large for the store ({bytes} bytes)")]
    TooLarge {
        /// The run.
        run_id: RunId,
        /// The row.
        sequence: u64,
        /// The size of its payload.
        bytes: usize,
    },

    /// The cursor was not made by this store.
    #[error("the cursor is not one of this store")]
    BadCursor,

    /// The store was shut down.
    #[error("the store is closed{}", of(run_id.as_ref()))]
    Closed {
        /// The run that was to be read or written.
        run_id: Option<RunId>,
    },

    /// Anything else that went wrong below the store. Whether a commit took place is for a load to tell.
    #[error("the store failed{}", of(run_id.as_ref()))]
    Io {
        /// The run that was to be read or written.
        run_id: Option<RunId>,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl StoreError {
    /// Wraps what went wrong below the store, for implementors of [`RunStore`](super::RunStore).
    pub fn io(run_id: Option<&RunId>, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Io { run_id: run_id.cloned(), source: source.into() }
    }

    /// The run concerned, if there is one.
    #[must_use]
    pub fn run_id(&self) -> Option<&RunId> {
        match self {
            Self::Busy { run_id, .. }
            | Self::LeaseLost { run_id, .. }
            | Self::NotFound { run_id }
            | Self::Exists { run_id }
            | Self::Conflict { run_id, .. }
            | Self::Damaged { run_id, .. }
            | Self::NewerVersion { run_id, .. }
            | Self::TooLarge { run_id, .. } => Some(run_id),
            Self::Full { run_id }
            | Self::ReadOnly { run_id }
            | Self::Locked { run_id }
            | Self::Closed { run_id }
            | Self::Io { run_id, .. } => run_id.as_ref(),
            Self::StoreDamaged { .. } | Self::NewerStore { .. } | Self::Foreign { .. } | Self::BadCursor => None,
        }
    }
}

fn at(sequence: Option<u64>) -> impl fmt::Display {
    fmt::from_fn(move |f| sequence.map_or(Ok(()), |sequence| write!(f, " at row {sequence}")))
}

fn of(run_id: Option<&RunId>) -> impl fmt::Display {
    fmt::from_fn(move |f| run_id.map_or(Ok(()), |run_id| write!(f, " (run `{run_id}`)")))
}
