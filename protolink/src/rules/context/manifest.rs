//! What the context policy says of a request.

use serde::{Deserialize, Serialize};

/// What a request is made of, as it is sent.
///
/// Sizes are estimates: four bytes are one token.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContextManifest {
    /// The estimated size of the system message, in tokens.
    pub system_tokens: u64,
    /// The estimated size of the tools' descriptions, in tokens.
    pub tool_tokens: u64,
    /// The estimated size of the schema that the answer is to fit, in tokens.
    pub answer_tokens: u64,
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
        self.system_tokens + self.tool_tokens + self.answer_tokens + self.message_tokens
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
