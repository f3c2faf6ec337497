//! The model behind an agent, as the loop asks it.

mod error;
#[cfg(feature = "genai-http")]
mod genai;
mod reply;
mod request;

pub use error::ModelError;
#[cfg(feature = "genai-http")]
pub use genai::GenaiModel;
pub use reply::{FinishReason, ModelReply, ReplyContent, ReportedReply, Usage};
pub use request::{ChunkSink, Model, ModelId, PreparedRequest};
