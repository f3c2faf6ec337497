//! What a run was started under: fingerprints, and what changed in words (contract D5, D6).

mod contract;
mod list;
mod source;

pub use contract::{ContractChange, ContractFingerprint, ContractPart, PartKind};
pub(crate) use contract::{hook_part, setting_part, tool_part};
pub use list::ListFingerprint;
pub use source::{Fingerprint, UnknownFingerprint};
