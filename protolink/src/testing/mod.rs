//! What tests of agents, hooks and stores are written with.

mod clock;
pub mod store_suite;

pub use clock::ManualClock;
