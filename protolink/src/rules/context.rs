//! How much of a history a request holds: trimming, and large results kept aside (contract M7).
//!
//! It shapes the request only: the conversation and the receipts stay whole.

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
