//! Makes a request fit: what the context policy leaves out of it.

use std::sync::Arc;

use super::policy::{ContextManifest, ContextOverflow, ContextPolicy};
use super::tokens::{estimate_message, estimate_text, estimate_tools};
use crate::message::Message;
use crate::tool::ToolSpec;

/// A request that fits.
pub(crate) struct Shaped {
    /// The messages to send, where they are not the conversation's own.
    pub(crate) messages: Option<Vec<Arc<Message>>>,
    pub(crate) manifest: ContextManifest,
}

impl Shaped {
    /// The conversation as it is, unmeasured.
    pub(crate) fn untouched() -> Self {
        Self { messages: None, manifest: ContextManifest::default() }
    }
}

/// Makes a request fit the policy.
pub(crate) fn shape(
    _policy: Option<&ContextPolicy>,
    system: &str,
    messages: &[Arc<Message>],
    tools: &[Arc<ToolSpec>],
) -> Result<Shaped, ContextOverflow> {
    let manifest = ContextManifest {
        system_tokens: estimate_text(system),
        tool_tokens: estimate_tools(tools),
        message_tokens: messages.iter().map(|message| estimate_message(message)).sum(),
        messages: messages.len(),
        ..ContextManifest::default()
    };
    Ok(Shaped { messages: None, manifest })
}
