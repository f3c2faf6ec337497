//! A person's yes or no, where one can be had while the run waits.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{ActionId, RunId};

/// What a person is asked to approve: one call with its exact arguments.
///
/// ```
/// use protolink::rules::{Approval, ApprovalRequest};
///
/// fn ask(request: &ApprovalRequest) -> Approval {
///     println!(
///         "May `{}` run with {}? It can {:?}.",
///         request.tool, request.arguments, request.capabilities
///     );
///     Approval::Undecided
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The run.
    pub run_id: RunId,
    /// The action.
    pub action_id: ActionId,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// What the tool can do.
    pub capabilities: Vec<String>,
}

/// A person's word. Only [`Approve`](Self::Approve) approves (contract D11).
///
/// ```
/// use protolink::rules::Approval;
///
/// fn word_of(typed: &str) -> Approval {
///     match typed {
///         "y" | "yes" => Approval::Approve,
///         "n" | "no" => Approval::Reject { reason: "the person said no".to_owned() },
///         _ => Approval::Undecided,
///     }
/// }
/// assert_eq!(word_of("yes"), Approval::Approve);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Yes, this call.
    Approve,
    /// No; the reason is told to the model.
    Reject {
        /// Why, in words that the model may read.
        reason: String,
    },
    /// No word yet: a durable run pauses, any other fails.
    Undecided,
}

/// Asks a person while the run waits.
///
/// A function or closure from [`ApprovalRequest`] to [`Approval`] is one.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::rules::{Approval, ApprovalRequest};
///
/// # let _ =
/// Agent::builder("clerk").approver(|request: &ApprovalRequest| {
///     if request.arguments["cents"].as_u64() < Some(1_000) {
///         Approval::Approve
///     } else {
///         Approval::Reject { reason: "too much for one go".to_owned() }
///     }
/// });
/// ```
#[async_trait]
pub trait Approver: Send + Sync + 'static {
    /// Gives the person's word on one call.
    ///
    /// ```
    /// use protolink::async_trait;
    /// use protolink::rules::{Approval, ApprovalRequest, Approver};
    ///
    /// /// Asks in a chat, and waits for the word.
    /// struct Chat;
    ///
    /// #[async_trait]
    /// impl Approver for Chat {
    ///     async fn approve(&self, request: &ApprovalRequest) -> Approval {
    ///         match ask_in_chat(&request.tool).await.as_str() {
    ///             "yes" => Approval::Approve,
    ///             reason => Approval::Reject { reason: reason.to_owned() },
    ///         }
    ///     }
    /// }
    /// # async fn ask_in_chat(_tool: &str) -> String { "yes".to_owned() }
    /// ```
    async fn approve(&self, request: &ApprovalRequest) -> Approval;
}

#[async_trait]
impl<F: Fn(&ApprovalRequest) -> Approval + Send + Sync + 'static> Approver for F {
    async fn approve(&self, request: &ApprovalRequest) -> Approval {
        self(request)
    }
}
