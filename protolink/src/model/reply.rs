//! What a model replies.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::ToolCall;

/// A whole reply of the model.
///
/// ```
/// use protolink::ToolCall;
/// use protolink::model::{FinishReason, ModelReply, Usage};
///
/// let plain = ModelReply::Final("Paris".to_owned());
/// let reported = ModelReply::text("Paris").with_usage(Usage::new(12, 1)).with_finish_reason(FinishReason::Stop);
/// let calls = ModelReply::calls(None, vec![ToolCall::new("call_1", "search", serde_json::json!({ "query": "desk" }))]);
///
/// assert_eq!(plain.into_reported().finish_reason, FinishReason::Stop);
/// assert_eq!(reported.with_provider("signature".into()).into_reported().usage.total(), 13);
/// assert_eq!(calls.into_reported().tool_calls().len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum ModelReply {
    /// A proposed answer.
    Final(String),
    /// Tools to call.
    Calls {
        /// What the model said beside the calls.
        text: Option<String>,
        /// The calls, in the model's order.
        calls: Vec<ToolCall>,
    },
    /// Either of them, with what the provider reports about it.
    Reported(Box<ReportedReply>),
}

/// A reply with what the provider reports about it.
///
/// ```
/// use protolink::model::{FinishReason, ModelReply, ReplyContent};
///
/// let reply = ModelReply::text("Paris").into_reported();
/// assert_eq!(reply.content, ReplyContent::Final("Paris".to_owned()));
/// assert_eq!(reply.finish_reason, FinishReason::Stop);
/// assert!(reply.tool_calls().is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReportedReply {
    /// The answer, or the calls.
    pub content: ReplyContent,
    /// What it cost.
    pub usage: Usage,
    /// Why the model stopped.
    pub finish_reason: FinishReason,
    /// What the provider wants to get back unread with this turn: reasoning, signatures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Value>,
}

/// What a reply says.
///
/// ```
/// use protolink::model::{ModelReply, ReplyContent};
///
/// match ModelReply::text("Paris").into_reported().content {
///     ReplyContent::Final(text) => assert_eq!(text, "Paris"),
///     ReplyContent::Calls { calls, .. } => println!("{} tools are called", calls.len()),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyContent {
    /// A proposed answer.
    Final(String),
    /// Tools to call.
    Calls {
        /// What the model said beside the calls.
        text: Option<String>,
        /// The calls, in the model's order.
        calls: Vec<ToolCall>,
    },
}

impl ModelReply {
    /// A proposed answer.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Final(text.into())
    }

    /// Tools to call, with what the model said beside them.
    #[must_use]
    pub fn calls(text: Option<String>, calls: Vec<ToolCall>) -> Self {
        Self::Calls { text, calls }
    }

    /// Says what the reply cost.
    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        Self::Reported(Box::new(ReportedReply { usage, ..self.into_reported() }))
    }

    /// Says why the model stopped.
    #[must_use]
    pub fn with_finish_reason(self, finish_reason: FinishReason) -> Self {
        Self::Reported(Box::new(ReportedReply { finish_reason, ..self.into_reported() }))
    }

    /// Keeps what the provider wants back unread.
    #[must_use]
    pub fn with_provider(self, data: Value) -> Self {
        Self::Reported(Box::new(ReportedReply { provider: Some(data), ..self.into_reported() }))
    }

    /// The reply with what is reported about it; what is not, is nothing and the usual reason.
    #[must_use]
    pub fn into_reported(self) -> ReportedReply {
        let (content, finish_reason) = match self {
            Self::Final(text) => (ReplyContent::Final(text), FinishReason::Stop),
            Self::Calls { text, calls } => (ReplyContent::Calls { text, calls }, FinishReason::ToolCalls),
            Self::Reported(reply) => return *reply,
        };
        ReportedReply { content, usage: Usage::default(), finish_reason, provider: None }
    }
}

impl ReportedReply {
    /// The calls of the reply; empty for an answer.
    #[must_use]
    pub fn tool_calls(&self) -> &[ToolCall] {
        match &self.content {
            ReplyContent::Final(_) => &[],
            ReplyContent::Calls { calls, .. } => calls,
        }
    }

    /// The reply as an answer: its text, and what the provider wants back.
    pub(crate) fn into_answer(self) -> (String, Option<Value>) {
        let text = match self.content {
            ReplyContent::Final(text) => text,
            ReplyContent::Calls { text, .. } => text.unwrap_or_default(),
        };
        (text, self.provider)
    }
}

/// Why a model stopped.
///
/// ```
/// use protolink::model::{FinishReason, ModelReply};
///
/// let cut_off = ModelReply::text("Once upon a").with_finish_reason(FinishReason::Length);
/// assert_eq!(cut_off.into_reported().finish_reason, FinishReason::Length);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It wants tools to be called.
    ToolCalls,
    /// It reached a length limit: the reply is not whole (contract F5).
    Length,
    /// The provider withheld content.
    ContentFilter,
    /// Something else, in the provider's word.
    Other(String),
}

/// Tokens that model calls used.
///
/// ```
/// use protolink::model::Usage;
///
/// let usage = Usage::new(120, 30);
/// assert_eq!((usage.input_tokens, usage.output_tokens, usage.total()), (120, 30, 150));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of requests.
    pub input_tokens: u64,
    /// Tokens of replies.
    pub output_tokens: u64,
}

impl Usage {
    /// This many tokens of requests and of replies.
    #[must_use]
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens }
    }

    /// Both together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}
