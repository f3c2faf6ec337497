//! What a conversation is made of: a tool call and its outcome are one value.

mod size;
mod text;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::value::SharedValue;
pub(crate) use size::{MessageSize, OVERHEAD, OutcomeSize, estimate_json, estimate_text};
pub(crate) use text::{OutcomeText, part};

/// One entry of a conversation.
///
/// There is no message for a tool result: a result lives in the [`Exchange`] of the call that it answers, so that
/// neither can be written down, removed or trimmed without the other (contract M12).
///
/// ```
/// use protolink::Message;
/// let question = Message::user("Which lamps do we have?");
/// assert!(question.is_user());
/// assert_eq!(question.text(), Some("Which lamps do we have?"));
///
/// let answer = Message::assistant("A desk lamp and a floor lamp.");
/// assert!(answer.is_assistant() && answer.calls().is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// What the user, or a hook in the user's name, said.
    User(Content),
    /// What the model said, and what came of the tools that it called.
    Assistant(Turn),
}

impl Message {
    /// A user message of plain text.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(Content::text(text))
    }

    /// An assistant message of plain text, without tool calls.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(Turn::new(Some(text.into()), Vec::new()))
    }

    /// The text of the message; `None` for a turn that only called tools.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::User(content) => Some(&content.text),
            Self::Assistant(turn) => turn.text.as_deref(),
        }
    }

    /// Whether this is a user message.
    #[must_use]
    pub fn is_user(&self) -> bool {
        matches!(self, Self::User(_))
    }

    /// Whether this is a turn of the model.
    #[must_use]
    pub fn is_assistant(&self) -> bool {
        matches!(self, Self::Assistant(_))
    }

    /// The tool calls of this turn with their outcomes; empty for a user message.
    #[must_use]
    pub fn calls(&self) -> &[Exchange] {
        match self {
            Self::User(_) => &[],
            Self::Assistant(turn) => &turn.calls,
        }
    }
}

/// What a user message holds.
///
/// ```
/// use protolink::{Attachment, Content};
///
/// let content = Content::text("What is on this picture?")
///     .with_attachment(Attachment::url("image/png", "https://example.org/lamp.png"));
/// assert_eq!(content.attachments.len(), 1);
/// // It goes where text goes: `agent.invoke(content)`, `Message::User(content)`.
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Content {
    /// The text.
    pub text: String,
    /// Images and files that go with the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

impl Content {
    /// Plain text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), attachments: Vec::new() }
    }

    /// Adds an image or a file.
    #[must_use]
    pub fn with_attachment(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&String> for Content {
    fn from(text: &String) -> Self {
        Self::text(text)
    }
}

/// An image or a file beside the text of a message.
///
/// ```
/// use protolink::{Attachment, AttachmentSource};
///
/// let fetched = Attachment::url("image/png", "https://example.org/lamp.png");
/// let sent = Attachment::base64("text/plain", "YSBsYW1w");
/// assert_eq!(fetched.media_type, "image/png");
/// assert_eq!(sent.source, AttachmentSource::Base64("YSBsYW1w".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Attachment {
    /// The IANA media type, `image/png` for example.
    pub media_type: String,
    /// Where the bytes are.
    pub source: AttachmentSource,
}

impl Attachment {
    /// An attachment that the provider fetches by itself.
    #[must_use]
    pub fn url(media_type: impl Into<String>, url: impl Into<String>) -> Self {
        Self { media_type: media_type.into(), source: AttachmentSource::Url(url.into()) }
    }

    /// An attachment whose bytes travel with the message, encoded as standard base64.
    #[must_use]
    pub fn base64(media_type: impl Into<String>, data: impl Into<Arc<str>>) -> Self {
        Self { media_type: media_type.into(), source: AttachmentSource::Base64(data.into()) }
    }
}

/// Where the bytes of an [`Attachment`] are.
///
/// ```
/// use protolink::{Attachment, AttachmentSource};
///
/// let attachment = Attachment::url("image/png", "https://example.org/lamp.png");
/// match attachment.source {
///     AttachmentSource::Url(url) => assert_eq!(url, "https://example.org/lamp.png"),
///     AttachmentSource::Base64(bytes) => println!("{} characters of base64", bytes.len()),
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentSource {
    /// An address that the provider can read.
    Url(String),
    /// The bytes themselves, in standard base64.
    Base64(Arc<str>),
}

/// One turn of the model: its text, and its tool calls with their outcomes.
///
/// ```
/// use protolink::{Exchange, Message, ToolCall, ToolOutcome, Turn};
/// use serde_json::json;
///
/// let exchange = Exchange {
///     call: ToolCall::new("call_1", "search", json!({ "query": "desk" })),
///     outcome: ToolOutcome::Observed(json!(["a desk lamp"]).into()),
/// };
/// let turn = Turn::new(Some("Let me look.".to_owned()), vec![exchange]);
/// assert_eq!(turn.text(), Some("Let me look."));
/// assert_eq!(turn.calls()[0].call.name, "search");
/// assert!(Message::Assistant(turn).is_assistant());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Turn {
    /// What the model said beside its calls, or its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The tools that it called, each with what came of it, in the order of the calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Exchange>,
    /// What the provider wants to get back unread with this turn: reasoning, signatures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Value>,
}

impl Turn {
    /// A turn of this text and these calls.
    #[must_use]
    pub fn new(text: Option<String>, calls: Vec<Exchange>) -> Self {
        Self { text, calls, provider: None }
    }

    /// What the model said beside its calls, or its answer.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The tools that it called, each with what came of it.
    #[must_use]
    pub fn calls(&self) -> &[Exchange] {
        &self.calls
    }
}

/// A tool call and what came of it.
///
/// ```
/// use protolink::{Exchange, ToolCall, ToolOutcome};
/// use serde_json::json;
///
/// let exchange = Exchange {
///     call: ToolCall::new("call_1", "search", json!({ "query": "desk" })),
///     outcome: ToolOutcome::Observed(json!(["a desk lamp"]).into()),
/// };
/// assert_eq!(exchange.outcome.to_model_text(), r#"["a desk lamp"]"#);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// What the model asked for.
    pub call: ToolCall,
    /// What the model learns of it.
    pub outcome: ToolOutcome,
}

/// A tool call as the model wrote it.
///
/// ```
/// use protolink::ToolCall;
///
/// let call = ToolCall::new("call_1", "search", serde_json::json!({ "query": "desk" }));
/// assert_eq!(call.arguments["query"], "desk");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's identifier of this call; unique in its turn.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, exactly.
    pub arguments: Value,
}

impl ToolCall {
    /// A call of the tool `name` under the identifier `id`.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments }
    }
}

/// What the model learns of a tool call.
///
/// ```
/// use protolink::ToolOutcome;
/// use serde_json::json;
///
/// let seen = ToolOutcome::Observed(json!({ "hits": 3 }).into());
/// assert_eq!(seen.observed(), Some(&json!({ "hits": 3 })));
/// assert!(!seen.is_error());
///
/// let denied = ToolOutcome::Denied("the office is closed".to_owned());
/// assert_eq!(denied.to_model_text(), "The call was denied and nothing was done: the office is closed");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolOutcome {
    /// The call succeeded; this is what the `after_tool` hooks let the model see.
    Observed(SharedValue),
    /// The tool ran and failed; the text is what the model is told.
    Failed(String),
    /// Nothing was done: the call named no tool of the step, or its arguments did not fit, or the tool refused it.
    Rejected(String),
    /// Nothing was done: the policy, or a person, said no.
    Denied(String),
    /// The run was cancelled before the call was answered.
    Cancelled,
    /// The call was started, and nobody knows whether its effect happened.
    Uncertain,
    /// The effect happened, and the hook that shapes its result for the model failed; the receipt keeps the result.
    Withheld {
        /// The receipt's digest.
        receipt: String,
    },
}

impl ToolOutcome {
    /// The value that the model sees, where the call succeeded.
    #[must_use]
    pub fn observed(&self) -> Option<&Value> {
        match self {
            Self::Observed(value) => Some(value),
            _ => None,
        }
    }

    /// What a provider is sent for this outcome: JSON text of a result, or the text of what went wrong.
    #[must_use]
    pub fn to_model_text(&self) -> String {
        match self {
            Self::Observed(value) => match &**value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            },
            Self::Failed(text) => format!("The tool failed: {text}"),
            Self::Rejected(text) => format!("The call was rejected and nothing was done: {text}"),
            Self::Denied(text) => format!("The call was denied and nothing was done: {text}"),
            Self::Cancelled => "The call was cancelled before it was answered.".to_owned(),
            Self::Uncertain => "The call was started; whether its effect happened is not known.".to_owned(),
            Self::Withheld { .. } => "The call was carried out; its result is withheld.".to_owned(),
        }
    }

    /// Whether the model is to treat the outcome as an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        !matches!(self, Self::Observed(_))
    }
}
