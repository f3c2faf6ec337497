//! The model behind an agent, as the loop asks it.

mod error;
mod reply;
mod request;

pub use error::ModelError;
pub use reply::{FinishReason, ModelReply, ReplyContent, ReportedReply, Usage};
pub use request::{ChunkSink, Model, ModelId, PreparedRequest};
