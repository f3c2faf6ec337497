//! What a run may do, how much, and how much of its history a request holds.

mod approval;
mod budget;
pub mod context;
mod policy;
mod retry;

pub use approval::{Approval, ApprovalRequest, Approver};
pub use budget::{Budget, BudgetLimit, Spent};
pub use context::ContextPolicy;
pub use policy::{CapabilityPolicy, Decision, Policy, PolicyRequest};
pub use retry::Retry;
