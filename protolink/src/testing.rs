//! What tests of agents, hooks and stores are written with.

mod clock;
mod fixtures;
pub mod matrix;
mod model;
mod repeatable;
mod reply;
#[cfg(feature = "testing-server")]
pub mod server;
pub mod store_suite;

pub use clock::ManualClock;
pub use fixtures::{ObservationFixture, RequestFixture, ResponseFixture};
pub use model::{RecordedRequest, ScriptedModel, retry_at_once};
pub use repeatable::{Fixture, assert_repeatable, assert_repeatable_async};
pub use reply::Reply;
