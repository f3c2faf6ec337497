//! Runs that outlive their process: the stores, what they keep, and what can be read of it.
//!
//! An agent with a store ([`AgentBuilder::durable`](crate::AgentBuilder::durable)) writes a [`Record`] at each point of a
//! run before it goes on: an action is on record before it is done, and its receipt before anybody sees its result
//! (contract D1). So a run survives a crash, a week's wait for a person and a deploy: another process takes it up by
//! [`Agent::resume`](crate::Agent::resume), and does nothing twice that has a receipt (contract D2).
//!
//! ```
//! use protolink::durable::{MemoryStore, Page, Record, RunFilter, RunState, RunStore};
//! use protolink::prelude::*;
//! use protolink::testing::{Reply, ScriptedModel};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // With the feature `sqlite`: `SqliteStore::open("runs.sqlite")?`.
//! let store = MemoryStore::new();
//! let model = ScriptedModel::new([Reply::permanent("no key"), Reply::text("done")]);
//! let agent = Agent::builder("clerk").model(model).durable(store.clone()).build()?;
//!
//! // A run that failed is taken up where it stands, here or in another process.
//! assert!(agent.run("Go.").run_id("order-17").await.is_err());
//! assert_eq!(agent.resume("order-17").await?.answer().map(Answer::text), Some("done"));
//!
//! // Which runs are there, and what did one of them do?
//! let completed = RunFilter::new().agent("clerk").state(RunState::Completed);
//! let done = store.list(&completed, Page::newest(10)).await?;
//! assert_eq!(done.runs[0].run_id, "order-17");
//! assert!(matches!(agent.journal("order-17").await?.last(), Some(Record::Completed { .. })));
//! # Ok(())
//! # }
//! ```
//!
//! - **Stores**: [`MemoryStore`] and `SqliteStore` (feature `sqlite`). A store of your own implements [`RunStore`], and
//!   [`store_suite`](crate::testing::store_suite) tests it.
//! - **Finding runs**: [`RunFilter`], [`Page`], [`RunSummary`].
//! - **Reading what a run did**: [`journal`](journal()) gives its [`Record`]s.

mod clock;
pub(crate) mod journal;
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
