//! What the context policy says of a request.

use serde::{Deserialize, Serialize};

/// What a request is made of, as it is sent.
///
/// Sizes are estimates: four bytes are one token.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
/// let mut stream = agent.run("Go.").stream();
/// while let Some(event) = stream.next().await {
///     if let RunEvent::ContextPrepared { manifest, .. } = event? {
///         println!(
///             "about {} tokens in {} messages",
///             manifest.total_tokens(),
///             manifest.messages
///         );
///         assert_eq!(manifest.messages_dropped, 0);
///     }
/// }
/// # Ok(())
/// # }
/// ```
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
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a")
///     .model(ScriptedModel::new([]))
///     .context_policy(ContextPolicy::new(1))
///     .build()?;
/// let Err(Error::Context { source, .. }) = agent.invoke("A prompt of some length.").await
/// else {
///     panic!("it fits")
/// };
/// assert!(source.needed > source.available);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{needed} tokens are needed, and {available} are available")]
#[non_exhaustive]
pub struct ContextOverflow {
    /// What is needed at least, in tokens, by estimate.
    pub needed: u64,
    /// What is available, in tokens.
    pub available: u64,
}
