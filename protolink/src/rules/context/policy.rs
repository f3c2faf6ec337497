//! What the context policy is, and what it says of a request.

use serde::{Deserialize, Serialize};

/// How much of a history a request may hold.
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

    /// Never drops the newest this many user turns; at least the current one stays.
    #[must_use]
    pub fn preserve_recent(mut self, turns: usize) -> Self {
        self.preserve_recent = turns;
        self
    }

    /// Keeps results whose text is longer than this many characters aside: the request holds a preview.
    #[must_use]
    pub fn max_result_chars(mut self, chars: usize) -> Self {
        self.max_result_chars = Some(chars);
        self
    }

    /// How many characters of a result one page holds.
    pub(crate) fn page_chars(&self) -> usize {
        self.max_result_chars.unwrap_or(0)
    }

    pub(crate) fn keeps_results_aside(&self) -> bool {
        self.max_result_chars.is_some()
    }
}

/// What a request is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContextManifest {
    /// The estimated size of the system message, in tokens.
    pub system_tokens: u64,
    /// The estimated size of the tools' descriptions, in tokens.
    pub tool_tokens: u64,
    /// The estimated size of the messages, in tokens.
    pub message_tokens: u64,
    /// How many messages are sent.
    pub messages: usize,
    /// How many messages of old turns were left out.
    pub messages_dropped: usize,
    /// How many old results were cleared.
    pub results_cleared: usize,
    /// How many results were replaced by previews.
    pub results_offloaded: usize,
}

impl ContextManifest {
    /// The estimated size of the whole request, in tokens.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.system_tokens + self.tool_tokens + self.message_tokens
    }
}

/// What must not be dropped does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{needed} tokens are needed, and {available} are available")]
#[non_exhaustive]
pub struct ContextOverflow {
    /// What is needed at least, in tokens, by estimate.
    pub needed: u64,
    /// What is available, in tokens.
    pub available: u64,
}
