//! What most programs need: `use protolink::prelude::*;`.
//!
//! ```
//! use protolink::prelude::*;
//! use protolink::testing::{Reply, ScriptedModel};
//!
//! #[before_model]
//! fn be_brief(request: &mut ModelRequest<'_>) {
//!     request.history().append_system("Answer in one word.");
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedModel::new([Reply::text("Paris")]);
//! let agent = Agent::builder("a").model(model).hooks(hooks![be_brief]).build()?;
//! assert_eq!(agent.blocking().invoke("What is the capital of France?")?.text(), "Paris");
//! # Ok(())
//! # }
//! ```

pub use crate::agent::Agent;
pub use crate::durable::MemoryStore;
#[cfg(feature = "sqlite")]
pub use crate::durable::SqliteStore;
pub use crate::error::Error;
pub use crate::event::RunEvent;
pub use crate::hook::{BoxError, FinalResponse, ModelRequest, ToolObservation};
pub use crate::macros::FromRef;
pub use crate::message::Message;
#[cfg(feature = "genai-http")]
pub use crate::model::GenaiModel;
pub use crate::outcome::{Answer, Interruption, Outcome};
pub use crate::rules::{Budget, CapabilityPolicy, ContextPolicy, Retry};
pub use crate::state::{FromRef, State};
pub use crate::tool::{ToolContext, ToolError};
pub use crate::{after_tool, before_complete, before_model, hook_module, hooks, tool, tools};
