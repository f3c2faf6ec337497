//! What a run may do, how much, and how much of its history a request holds.
//!
//! ```
//! use protolink::prelude::*;
//! use std::time::Duration;
//!
//! # let _ =
//! Agent::builder("clerk")
//!     // Who may do what: by the capabilities of the tools (contract P1).
//!     .policy(CapabilityPolicy::new().require_approval("money").deny("documents.delete"))
//!     // How much a run may spend, checked before each operation (contract P2).
//!     .budget(
//!         Budget::new()
//!             .max_steps(12)
//!             .max_tokens(60_000)
//!             .max_wall_time(Duration::from_secs(120)),
//!     )
//!     // How much of a history a request holds (contract M7).
//!     .context_policy(
//!         ContextPolicy::new(100_000).reserve_tokens(8_000).max_result_chars(10_000),
//!     )
//!     // How often a request is sent again (contract M6).
//!     .retry(Retry::new().max_attempts(3));
//! ```
//!
//! A rule of your own is a [`Policy`], a person's yes while the run waits an [`Approver`].

mod approval;
mod budget;
pub mod context;
mod policy;
mod retry;

pub use approval::{Approval, ApprovalRequest, Approver};
pub use budget::{Budget, BudgetLimit, Spent};
// Its own module is public, for the manifest of what was kept aside; the page lists it among the others.
#[doc(inline)]
pub use context::ContextPolicy;
pub use policy::{CapabilityPolicy, Decision, Policy, PolicyRequest};
pub use retry::Retry;
