//! Who may do what: the authority over tool calls (contract P1).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::run_context::RunContext;
use crate::tool::ToolSpec;

/// What the policy says of a call.
///
/// ```
/// use protolink::rules::{Decision, Policy, PolicyRequest};
///
/// struct SmallSums;
///
/// impl Policy for SmallSums {
///     fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
///         match request.arguments["cents"].as_u64() {
///             None | Some(0..1_000) => Decision::Allow,
///             Some(1_000..100_000) => Decision::RequireApproval,
///             Some(_) => Decision::Deny { reason: "the sum is too high".to_owned() },
///         }
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// The call may run.
    Allow,
    /// The call must not run; the reason is told to the model.
    Deny {
        /// Why, in words that the model may read.
        reason: String,
    },
    /// A person must say yes first.
    RequireApproval,
}

/// A call that is about to run, as the policy is asked about it.
///
/// ```
/// use protolink::rules::{Decision, Policy, PolicyRequest};
///
/// /// Each user may read; only some may write.
/// struct Writers(Vec<String>);
///
/// impl Policy for Writers {
///     fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
///         let user =
///             request.context.get("user").and_then(|user| user.as_str()).unwrap_or_default();
///         let writes =
///             request.tool.capabilities().iter().any(|capability| capability == "write");
///         if writes && !self.0.iter().any(|writer| writer == user) {
///             return Decision::Deny { reason: "this user may not write".to_owned() };
///         }
///         Decision::Allow
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PolicyRequest<'a> {
    /// The tool as it was registered.
    pub tool: &'a ToolSpec,
    /// The arguments, exactly.
    pub arguments: &'a Value,
    /// Facts about the run.
    pub context: &'a RunContext,
    /// The step, counted from 1; 0 for a direct [`call_tool`](crate::Agent::call_tool).
    pub step: u32,
}

/// Decides about each tool call, after hooks had their say about the roster: filtering never widens what it allows.
///
/// ```
/// use protolink::rules::{Decision, Policy, PolicyRequest};
///
/// struct OfficeHours {
///     open: bool,
/// }
///
/// impl Policy for OfficeHours {
///     fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
///         if self.open || request.tool.capabilities().is_empty() {
///             Decision::Allow
///         } else {
///             Decision::Deny { reason: "the office is closed".to_owned() }
///         }
///     }
/// }
/// ```
pub trait Policy: Send + Sync + 'static {
    /// Says whether the call may run.
    fn decide(&self, request: &PolicyRequest<'_>) -> Decision;
}

impl<P: Policy + ?Sized> Policy for Arc<P> {
    fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
        (**self).decide(request)
    }
}

/// Decides by the capabilities that tools declare.
///
/// The strictest word counts: a denied capability denies the call, else one that requires approval requires it.
/// A capability that nobody named is allowed, unless [`deny_others`](Self::deny_others) says otherwise.
///
/// ```
/// use protolink::prelude::*;
///
/// let policy = CapabilityPolicy::new().deny("documents.delete").require_approval("money");
/// # let _ = Agent::builder("a").policy(policy);
///
/// // Only what is named.
/// let strict = CapabilityPolicy::new().allow("documents.read").deny_others();
/// # let _ = Agent::builder("a").policy(strict);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapabilityPolicy {
    capabilities: BTreeMap<String, Word>,
    others_denied: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Allow,
    RequireApproval,
    Deny,
}

impl CapabilityPolicy {
    /// A policy that allows everything.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn with(mut self, capability: impl Into<String>, word: Word) -> Self {
        self.capabilities.insert(capability.into(), word);
        self
    }

    /// Allows calls of tools with this capability.
    #[must_use]
    pub fn allow(self, capability: impl Into<String>) -> Self {
        self.with(capability, Word::Allow)
    }

    /// Denies calls of tools with this capability.
    #[must_use]
    pub fn deny(self, capability: impl Into<String>) -> Self {
        self.with(capability, Word::Deny)
    }

    /// Requires a person's yes for calls of tools with this capability.
    #[must_use]
    pub fn require_approval(self, capability: impl Into<String>) -> Self {
        self.with(capability, Word::RequireApproval)
    }

    /// Denies every capability that is not named.
    #[must_use]
    pub fn deny_others(mut self) -> Self {
        self.others_denied = true;
        self
    }
}

impl Policy for CapabilityPolicy {
    fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
        let others = if self.others_denied { Word::Deny } else { Word::Allow };
        let words = request.tool.capabilities().iter().map(|capability| {
            let word = self.capabilities.get(capability).copied().unwrap_or(others);
            (word, capability)
        });
        match words.max() {
            None | Some((Word::Allow, _)) => Decision::Allow,
            Some((Word::RequireApproval, _)) => Decision::RequireApproval,
            Some((Word::Deny, capability)) => {
                Decision::Deny { reason: format!("the capability `{capability}` is denied") }
            }
        }
    }
}
