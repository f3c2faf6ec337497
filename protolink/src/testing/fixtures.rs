//! Inputs that a test lends to a hook, and reads afterwards.

mod observation;
mod request;
mod response;

pub use observation::ObservationFixture;
pub use request::RequestFixture;
pub use response::ResponseFixture;

use crate::ids::RunId;
use crate::run_context::RunContext;

fn context() -> RunContext {
    RunContext::new(RunId::from("fixture"), "fixture")
}
