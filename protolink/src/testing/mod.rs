//! What tests of agents, hooks and stores are written with.

mod clock;

pub use clock::ManualClock;
