//! The formats that the server speaks.

use serde_json::Value;

use crate::message::ToolCall;
use crate::model::Usage;

/// A provider's way to write requests and replies.
///
/// ```
/// use protolink::testing::Reply;
/// use protolink::testing::server::{ModelServer, WireFormat};
/// # #[cfg(feature = "genai-http")]
/// use protolink::model::GenaiModel;
/// use protolink::prelude::*;
///
/// # #[cfg(feature = "genai-http")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = ModelServer::start([Reply::text("done")]).await?;
/// let claude = GenaiModel::new("claude-haiku")
///     .provider("anthropic")
///     .base_url(server.base_url())
///     .api_key("any");
/// let agent = Agent::builder("a").model(claude).build()?;
/// agent.invoke("go").await?;
/// assert_eq!(server.requests()[0].format(), WireFormat::Anthropic);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "genai-http"))]
/// # fn main() {}
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireFormat {
    /// OpenAI's chat completions, which most servers speak.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Ollama's own chat.
    Ollama,
}

/// Why a reply ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Stop,
    Calls,
    Length,
    /// The stream dies here.
    Broken,
}

/// What a reply says, in no format yet.
pub(super) struct Said {
    pub(super) chunks: Vec<String>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) usage: Usage,
    pub(super) end: End,
}

impl Said {
    pub(super) fn text(&self) -> String {
        self.chunks.concat()
    }
}

impl WireFormat {
    pub(super) fn of_path(path: &str) -> Self {
        let path = path.split('?').next().unwrap_or_default();
        if path.ends_with("/messages") {
            Self::Anthropic
        } else if path.ends_with("/api/chat") {
            Self::Ollama
        } else {
            Self::OpenAi
        }
    }

    /// A whole reply.
    pub(super) fn whole(self, said: &Said) -> Value {
        match self {
            Self::OpenAi => super::openai::whole(said),
            Self::Anthropic => super::anthropic::whole(said),
            Self::Ollama => super::ollama::whole(said),
        }
    }

    /// The pieces of a streamed reply.
    pub(super) fn pieces(self, said: &Said) -> Vec<String> {
        match self {
            Self::OpenAi => super::openai::pieces(said),
            Self::Anthropic => super::anthropic::pieces(said),
            Self::Ollama => super::ollama::pieces(said),
        }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Anthropic => "text/event-stream",
            Self::Ollama => "application/x-ndjson",
        }
    }
}
