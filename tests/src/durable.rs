//! What the tests of durable runs share: places to keep runs in, effects that are counted outside of them, and stores
//! that are watched or stop working.

mod effects;
mod place;
mod watched;

pub use effects::Effects;
pub use place::{Place, on_both};
pub use watched::{Mishap, Watched};

/// What a test gives back.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;
