//! How much of a history a request holds: trimming, and large results kept aside (contract M7).
//!
//! It shapes the request only: the conversation and the receipts stay whole.
//!
//! ```
//! use protolink::prelude::*;
//! use protolink::testing::{Reply, ScriptedModel};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedModel::from_fn(|request| {
//!     Reply::text(format!("{} messages", request.messages.len()))
//! });
//! let agent =
//!     Agent::builder("a").model(model).context_policy(ContextPolicy::new(60)).build()?;
//! let mut conversation = agent.conversation();
//! for _ in 0..10 {
//!     conversation.invoke("A prompt of some length, again and again.").await?;
//! }
//! assert_eq!(conversation.messages().len(), 20, "all is kept");
//! let last = conversation.invoke("How many did you get?").await?;
//! assert!(last.text() < "9", "and not all is sent: {last}");
//! # Ok(())
//! # }
//! ```

mod artifact;
mod manifest;
mod policy;
mod preview;
mod shape;

pub use artifact::READ_ARTIFACT;
pub(crate) use artifact::{read_artifact, read_artifact_tool};
pub use manifest::{ContextManifest, ContextOverflow};
pub use policy::ContextPolicy;
pub(crate) use shape::{Shaped, Unshaped, shape};
