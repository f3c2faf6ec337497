//! Runs that outlive their process.

mod clock;
pub mod journal;
mod lease;
mod listing;
mod memory;
mod row;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod store_error;

pub use self::journal::{
    CallRecord, CallState, Decided, HookRecord, JOURNAL_VERSION, Record, Replied, Resumed, Revision, Started, Task,
    decode, journal,
};
pub use clock::{Clock, SystemClock, Timestamp};
pub use lease::Lease;
pub use listing::{Cursor, Order, Page, RunFilter, RunPage};
pub use memory::MemoryStore;
pub use row::{Row, RowDamage};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::{NewRun, RunState, RunStore, RunSummary, StoredRun, UnknownState};
pub use store_error::StoreError;
