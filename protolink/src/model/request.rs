//! What a model is asked, and how it shows text while it works.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::ModelError;
use super::reply::ModelReply;
use crate::message::Message;
use crate::tool::ToolSpec;

/// A model that an agent can ask.
///
/// ```
/// use protolink::async_trait;
/// use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest};
///
/// struct Parrot;
///
/// #[async_trait]
/// impl Model for Parrot {
///     fn id(&self) -> ModelId {
///         ModelId::new("test", "parrot")
///     }
///
///     async fn respond(
///         &self,
///         request: &PreparedRequest<'_>,
///         chunks: &mut ChunkSink<'_>,
///     ) -> Result<ModelReply, ModelError> {
///         let last =
///             request.messages().last().and_then(|message| message.text()).unwrap_or_default();
///         chunks.text(last);
///         Ok(ModelReply::text(last))
///     }
/// }
/// ```
#[async_trait]
pub trait Model: Send + Sync + 'static {
    /// Which model this is; a part of the contract's fingerprint.
    fn id(&self) -> ModelId;

    /// Whether the model takes tools by itself. One that does not is told of them in the system message (contract M8).
    fn native_tools(&self) -> bool {
        true
    }

    /// Asks the model once. The loop does the retries.
    ///
    /// # Errors
    /// [`ModelError`]; its text must hold nothing of the request.
    async fn respond(
        &self,
        request: &PreparedRequest<'_>,
        chunks: &mut ChunkSink<'_>,
    ) -> Result<ModelReply, ModelError>;
}

#[async_trait]
impl<M: Model + ?Sized> Model for Arc<M> {
    fn id(&self) -> ModelId {
        (**self).id()
    }

    fn native_tools(&self) -> bool {
        (**self).native_tools()
    }

    async fn respond(
        &self,
        request: &PreparedRequest<'_>,
        chunks: &mut ChunkSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        (**self).respond(request, chunks).await
    }
}

/// Which model is asked.
///
/// ```
/// use protolink::model::ModelId;
///
/// let id = ModelId::new("openai", "gpt-5-mini");
/// assert_eq!(id.to_string(), "openai/gpt-5-mini");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelId {
    /// Who serves it, `openai` for example.
    pub provider: String,
    /// Its name there.
    pub name: String,
}

impl ModelId {
    /// The model `name` of `provider`.
    #[must_use]
    pub fn new(provider: impl Into<String>, name: impl Into<String>) -> Self {
        Self { provider: provider.into(), name: name.into() }
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.name)
    }
}

/// One request as it is sent; every attempt of a step sends this very one (contract M6).
///
/// ```
/// use protolink::async_trait;
/// use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest};
///
/// struct Inspector;
///
/// #[async_trait]
/// impl Model for Inspector {
///     fn id(&self) -> ModelId {
///         ModelId::new("test", "inspector")
///     }
///
///     async fn respond(
///         &self,
///         request: &PreparedRequest<'_>,
///         _: &mut ChunkSink<'_>,
///     ) -> Result<ModelReply, ModelError> {
///         let tools: Vec<&str> = request.tools().iter().map(|tool| tool.name()).collect();
///         let (system, messages) = (request.system().len(), request.messages().len());
///         let typed = request.answer_schema().is_some();
///         Ok(ModelReply::text(format!(
///             "{messages} messages, {system} bytes, {tools:?}, typed: {typed}"
///         )))
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PreparedRequest<'a> {
    pub(crate) system: &'a str,
    pub(crate) messages: &'a [Arc<Message>],
    pub(crate) tools: &'a [Arc<ToolSpec>],
    pub(crate) answer_schema: Option<&'a Value>,
}

impl<'a> PreparedRequest<'a> {
    /// The system message; empty where there is none.
    #[must_use]
    pub fn system(&self) -> &'a str {
        self.system
    }

    /// The messages, oldest first.
    #[must_use]
    pub fn messages(&self) -> &'a [Arc<Message>] {
        self.messages
    }

    /// The tools of this step.
    #[must_use]
    pub fn tools(&self) -> &'a [Arc<ToolSpec>] {
        self.tools
    }

    /// The JSON Schema that the answer is to fit, where the application asked for a structured one.
    #[must_use]
    pub fn answer_schema(&self) -> Option<&'a Value> {
        self.answer_schema
    }
}

/// Takes the parts of a reply while the model makes them.
///
/// What goes through it is provisional: the reply that counts is the one that [`Model::respond`] returns.
///
/// ```
/// use protolink::async_trait;
/// use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest};
///
/// struct Storyteller;
///
/// #[async_trait]
/// impl Model for Storyteller {
///     fn id(&self) -> ModelId {
///         ModelId::new("test", "storyteller")
///     }
///
///     async fn respond(
///         &self,
///         _: &PreparedRequest<'_>,
///         chunks: &mut ChunkSink<'_>,
///     ) -> Result<ModelReply, ModelError> {
///         let words = ["Once ", "upon ", "a ", "time."];
///         if chunks.is_listened_to() {
///             words.iter().for_each(|word| chunks.text(word));
///         }
///         Ok(ModelReply::text(words.concat()))
///     }
/// }
///
/// // For calling a model by hand.
/// let mut nobody = ChunkSink::ignored();
/// nobody.text("unheard");
/// ```
pub struct ChunkSink<'s> {
    listener: Option<&'s mut (dyn FnMut(&str) + Send)>,
    shown: bool,
}

impl<'s> ChunkSink<'s> {
    pub(crate) fn to(listener: &'s mut (dyn FnMut(&str) + Send)) -> Self {
        Self { listener: Some(listener), shown: false }
    }

    /// A sink that nobody listens to.
    #[must_use]
    pub fn ignored() -> Self {
        Self { listener: None, shown: false }
    }

    /// Shows a piece of text.
    pub fn text(&mut self, chunk: &str) {
        if let Some(listener) = &mut self.listener
            && !chunk.is_empty()
        {
            listener(chunk);
            self.shown = true;
        }
    }

    /// Whether somebody listens; without that a model need not stream.
    #[must_use]
    pub fn is_listened_to(&self) -> bool {
        self.listener.is_some()
    }

    /// Whether somebody was shown something: then the request is not repeated.
    pub(crate) fn has_shown(&self) -> bool {
        self.shown
    }
}

impl fmt::Debug for ChunkSink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChunkSink").field("shown", &self.shown).finish_non_exhaustive()
    }
}
