//! What the context policy is told.

use serde::{Deserialize, Serialize};

/// How much of a history a request may hold (contract M7).
///
/// It shapes what is sent, after the hooks and before the budget is checked; the conversation and the receipts stay
/// whole. In this order:
///
/// 1. Results longer than [`max_result_chars`](Self::max_result_chars) are kept aside: the request shows their
///    beginning, and the built-in tool `read_artifact` reads the rest, page by page, where hooks left the step that tool.
/// 2. The oldest turns are left out, each a user message and everything up to the next, until the request fits.
/// 3. Of what must stay, results are cleared, the oldest first, until the request fits.
/// 4. What does not fit even so is [`Error::Context`](crate::Error::Context), and nothing is sent.
///
/// Tokens are estimated by bytes: four bytes are one token.
///
/// ```
/// use protolink::prelude::*;
///
/// let policy = ContextPolicy::new(100_000)
///     .reserve_tokens(8_000)
///     .preserve_recent(3)
///     .max_result_chars(10_000);
/// # let _ = Agent::builder("a").context_policy(policy);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextPolicy {
    pub(crate) max_tokens: u64,
    pub(crate) reserve_tokens: u64,
    pub(crate) preserve_recent: usize,
    pub(crate) max_result_chars: Option<usize>,
}

impl ContextPolicy {
    /// Requests of at most this many tokens, by estimate.
    #[must_use]
    pub fn new(max_tokens: u64) -> Self {
        Self { max_tokens, reserve_tokens: 0, preserve_recent: 1, max_result_chars: None }
    }

    /// Leaves this many of the tokens for the reply.
    #[must_use]
    pub fn reserve_tokens(mut self, tokens: u64) -> Self {
        self.reserve_tokens = tokens;
        self
    }

    /// Never drops the newest this many user turns, the run's own among them; at least that one stays, from its prompt
    /// on.
    #[must_use]
    pub fn preserve_recent(mut self, turns: usize) -> Self {
        self.preserve_recent = turns;
        self
    }

    /// Keeps results whose text is longer than this many characters aside: the request holds a preview of about that
    /// length, and an agent with this policy has the built-in tool `read_artifact`, whose pages are this long.
    #[must_use]
    pub fn max_result_chars(mut self, chars: usize) -> Self {
        self.max_result_chars = Some(chars);
        self
    }

    /// How many characters of a result one page holds.
    pub(crate) fn page_chars(&self) -> usize {
        self.max_result_chars.unwrap_or(usize::MAX)
    }

    pub(crate) fn keeps_results_aside(&self) -> bool {
        self.max_result_chars.is_some()
    }
}
