//! What a scripted model replies.

use std::time::Duration;

use serde_json::Value;

use crate::message::ToolCall;
use crate::model::Usage;

/// One reply of a [`ScriptedModel`](super::ScriptedModel).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
/// use serde_json::json;
/// use std::time::Duration;
///
/// /// Search the catalogue.
/// #[tool]
/// fn search(query: String) -> String {
///     query
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     Reply::transient("status 503").retry_after(Duration::ZERO),
///     Reply::call("search", json!({ "query": "desk" })).saying("Let me look.").usage(120, 8),
///     Reply::calls([("search", json!({ "query": "floor" })), ("search", json!({ "query": "wall" }))]),
///     Reply::call_with_id("own-id", "search", json!({ "query": "reading" })),
///     Reply::chunks(["Four ", "lamps."]).after(Duration::from_millis(1)),
/// ]);
/// let agent = Agent::builder("a").model(model).tools(tools![search]).build()?;
/// assert_eq!(agent.invoke("Which lamps?").await?.text(), "Four lamps.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Reply {
    pub(super) body: Body,
    pub(super) chunks: Vec<String>,
    pub(super) usage: Usage,
    pub(super) retry_after: Option<Duration>,
    pub(super) delay: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    Text(String),
    Calls { text: Option<String>, calls: Vec<ToolCall> },
    Truncated(String),
    Transient(String),
    Permanent(String),
    Panic(String),
    Hang,
}

impl Reply {
    /// Stands for "the next number" in a call's identifier.
    pub(super) const NUMBERED: &str = "\u{0}";

    fn new(body: Body) -> Self {
        Self { body, chunks: Vec::new(), usage: Usage::default(), retry_after: None, delay: None }
    }

    /// A proposed answer.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Body::Text(text.into()))
    }

    /// One tool call; its identifier is `call_1`, `call_2` and so on through the script.
    pub fn call(tool: impl Into<String>, arguments: Value) -> Self {
        Self::tool_call(ToolCall::new(Self::NUMBERED, tool, arguments))
    }

    /// One tool call under an identifier of its own.
    pub fn call_with_id(id: impl Into<String>, tool: impl Into<String>, arguments: Value) -> Self {
        Self::tool_call(ToolCall::new(id, tool, arguments))
    }

    fn tool_call(call: ToolCall) -> Self {
        Self::new(Body::Calls { text: None, calls: vec![call] })
    }

    /// Several tool calls in one turn: `Reply::calls([("search", json!({})), ("read", json!({}))])`, or replies made by
    /// [`call`](Self::call).
    pub fn calls<C: Into<Self>>(calls: impl IntoIterator<Item = C>) -> Self {
        let calls = calls.into_iter().flat_map(|call| match call.into().body {
            Body::Calls { calls, .. } => calls,
            _ => Vec::new(),
        });
        Self::new(Body::Calls { text: None, calls: calls.collect() })
    }

    /// A proposed answer that arrives in these pieces.
    pub fn chunks<C: Into<String>>(chunks: impl IntoIterator<Item = C>) -> Self {
        let chunks: Vec<String> = chunks.into_iter().map(Into::into).collect();
        Self { body: Body::Text(chunks.concat()), ..Self::new(Body::Hang) }.shown(chunks)
    }

    fn shown(mut self, chunks: Vec<String>) -> Self {
        self.chunks = chunks;
        self
    }

    /// A failure after which asking again may help; after [`chunks`](Self::chunks), by [`then`](Self::then), it breaks
    /// a stream.
    pub fn transient(message: impl Into<String>) -> Self {
        Self::new(Body::Transient(message.into()))
    }

    /// A failure after which asking again does not help.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a")
    ///     .model(ScriptedModel::new([Reply::permanent("status 401")]))
    ///     .retry(Retry::never())
    ///     .build()?;
    /// assert!(matches!(agent.invoke("Go.").await, Err(Error::Model { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn permanent(message: impl Into<String>) -> Self {
        Self::new(Body::Permanent(message.into()))
    }

    /// A reply that a length limit cut off.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a")
    ///     .model(ScriptedModel::new([Reply::truncated()]))
    ///     .retry(Retry::never())
    ///     .build()?;
    /// assert!(matches!(agent.invoke("Go.").await, Err(Error::Truncated { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn truncated() -> Self {
        Self::new(Body::Truncated("cut o".to_owned()))
    }

    /// The model panics.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a")
    ///     .model(ScriptedModel::new([Reply::panic("oh no")]))
    ///     .retry(Retry::never())
    ///     .build()?;
    /// assert!(matches!(agent.invoke("Go.").await, Err(Error::ModelPanicked { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn panic(message: impl Into<String>) -> Self {
        Self::new(Body::Panic(message.into()))
    }

    /// The model never replies.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::hang()])).build()?;
    /// let waited = tokio::time::timeout(Duration::from_millis(5), agent.invoke("Go.")).await;
    /// assert!(waited.is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn hang() -> Self {
        Self::new(Body::Hang)
    }

    /// Shows the text so far, and ends in another way: `Reply::chunks(["do"]).then(Reply::transient("reset"))`.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a")
    ///     .model(ScriptedModel::new([Reply::chunks(["do"]).then(Reply::transient("reset"))]))
    ///     .retry(Retry::never())
    ///     .build()?;
    /// assert!(matches!(agent.invoke("Go.").await, Err(Error::Model { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn then(self, end: Self) -> Self {
        Self { chunks: self.chunks, ..end }
    }

    /// What the model says beside its calls.
    pub fn saying(mut self, words: impl Into<String>) -> Self {
        if let Body::Calls { text, .. } = &mut self.body {
            *text = Some(words.into());
        }
        self
    }

    /// What the reply costs, in tokens.
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.usage = Usage::new(input_tokens, output_tokens);
        self
    }

    /// How long the provider asks to wait, for a transient failure.
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// How long the model takes.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = Some(delay);
        self
    }
}

impl<S: Into<String>> From<(S, Value)> for Reply {
    fn from((tool, arguments): (S, Value)) -> Self {
        Self::call(tool, arguments)
    }
}

impl From<ToolCall> for Reply {
    fn from(call: ToolCall) -> Self {
        Self::tool_call(call)
    }
}
