//! The model behind an agent, as the loop asks it.
//!
//! `GenaiModel` (features `genai` and `genai-http`) asks real ones; tests have the
//! [`ScriptedModel`](crate::testing::ScriptedModel). Anything else is a [`Model`] of your own: it is sent a
//! [`PreparedRequest`], gives a [`ModelReply`], and shows text to a [`ChunkSink`] while it works. It does no retries and
//! remembers nothing: the loop sends the very same request again where an error is
//! [transient](ModelError::is_transient) (contract M6).
//!
//! ```
//! use protolink::async_trait;
//! use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest};
//! use protolink::prelude::*;
//!
//! struct Parrot;
//!
//! #[async_trait]
//! impl Model for Parrot {
//!     fn id(&self) -> ModelId {
//!         ModelId::new("test", "parrot")
//!     }
//!
//!     async fn respond(
//!         &self,
//!         request: &PreparedRequest<'_>,
//!         _: &mut ChunkSink<'_>,
//!     ) -> Result<ModelReply, ModelError> {
//!         let last = request.messages().last().and_then(|message| message.text());
//!         Ok(ModelReply::text(last.unwrap_or_default()))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = Agent::builder("parrot").model(Parrot).build()?;
//! assert_eq!(agent.invoke("Hello!").await?.text(), "Hello!");
//! # Ok(())
//! # }
//! ```

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
