//! A model that follows a script.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::reply::{Body, Reply};
use crate::message::Message;
use crate::model::{ChunkSink, FinishReason, Model, ModelError, ModelId, ModelReply, PreparedRequest};

/// A model that gives the replies of a script, one a request, and keeps the requests as they were sent.
///
/// Clones share the script and the record, so that a test keeps one and gives the agent another.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::transient("503"), Reply::text("done")]);
/// let agent = Agent::builder("a").model(model.clone()).build()?;
/// agent.invoke("go").await?;
/// let requests = model.requests();
/// assert_eq!(requests.len(), 2);
/// assert_eq!(requests[0], requests[1], "a retry sends the very same request");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    shared: Arc<Shared>,
    id: ModelId,
    native_tools: bool,
    recording: bool,
}

struct Shared {
    script: Script,
    state: Mutex<State>,
}

enum Script {
    List(Vec<Reply>),
    Function(Box<dyn Fn(&RecordedRequest) -> Reply + Send + Sync>),
}

#[derive(Default)]
struct State {
    asked: usize,
    calls: usize,
    requests: Vec<RecordedRequest>,
}

/// How far a script was followed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Position {
    asked: usize,
    calls: usize,
}

/// A request as the model was sent it.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::text("Paris")]);
/// let agent =
///     Agent::builder("a").instructions("Answer in one word.").model(model.clone()).build()?;
/// agent.invoke("What is the capital of France?").await?;
///
/// let request = &model.requests()[0];
/// assert_eq!(request.system, "Answer in one word.");
/// assert_eq!(request.messages[0].text(), Some("What is the capital of France?"));
/// assert!(request.tool_names().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The system message.
    pub system: String,
    /// The messages.
    pub messages: Vec<Arc<Message>>,
    /// The names of the tools.
    pub tools: Vec<String>,
    /// The JSON Schema that the answer is to fit.
    pub answer_schema: Option<Value>,
}

impl RecordedRequest {
    fn of(request: &PreparedRequest<'_>) -> Self {
        Self {
            system: request.system().to_owned(),
            messages: request.messages().to_vec(),
            tools: request.tools().iter().map(|tool| tool.name().to_owned()).collect(),
            answer_schema: request.answer_schema().cloned(),
        }
    }

    /// The names of the tools.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        self.tools.iter().map(String::as_str).collect()
    }
}

impl ScriptedModel {
    /// A model that gives these replies in order. When they are used up, it refuses.
    #[must_use]
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::of(Script::List(replies.into_iter().collect()))
    }

    /// A model that makes its reply of the request.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let parrot = ScriptedModel::from_fn(|request| {
    ///     Reply::text(
    ///         request.messages.last().and_then(|message| message.text()).unwrap_or_default(),
    ///     )
    /// });
    /// let agent = Agent::builder("parrot").model(parrot).build()?;
    /// assert_eq!(agent.invoke("Hello!").await?.text(), "Hello!");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn from_fn(reply: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static) -> Self {
        Self::of(Script::Function(Box::new(reply)))
    }

    fn of(script: Script) -> Self {
        let shared = Arc::new(Shared { script, state: Mutex::default() });
        Self { shared, id: ModelId::new("scripted", "scripted"), native_tools: true, recording: true }
    }

    /// Gives the model another name; it is a part of the contract's fingerprint.
    ///
    /// ```
    /// # use protolink::testing::ScriptedModel;
    /// use protolink::model::Model;
    ///
    /// assert_eq!(ScriptedModel::new([]).named("gpt-5").id().to_string(), "scripted/gpt-5");
    /// ```
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.id = ModelId::new("scripted", name);
        self
    }

    /// Makes it a model that does not take tools by itself, so that the system message tells it of them.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Search the catalogue.
    /// # #[tool]
    /// # fn search(query: String) -> String { query }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text("done")]).without_native_tools();
    /// let agent = Agent::builder("a").model(model.clone()).tools(tools![search]).build()?;
    /// agent.invoke("Go.").await?;
    /// assert!(model.requests()[0].system.contains("search"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn without_native_tools(mut self) -> Self {
        self.native_tools = false;
        self
    }

    /// Keeps no requests, for benchmarks: what is kept grows with the conversation at every step.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::from_fn(|_| Reply::text("done")).without_recording();
    /// let agent = Agent::builder("a").model(model.clone()).build()?;
    /// agent.invoke("Go.").await?;
    /// assert_eq!((model.request_count(), model.requests().len()), (1, 0));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn without_recording(mut self) -> Self {
        self.recording = false;
        self
    }

    /// The requests so far, as they were sent.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state().requests.clone()
    }

    /// How often it was asked.
    #[must_use]
    pub fn request_count(&self) -> usize {
        self.state().asked
    }

    /// How far the script was followed.
    pub(super) fn position(&self) -> Position {
        let state = self.state();
        Position { asked: state.asked, calls: state.calls }
    }

    /// Follows the script again from there.
    pub(super) fn rewind(&self, position: Position) {
        let mut state = self.state();
        (state.asked, state.calls) = (position.asked, position.calls);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // A reply function that panicked has left nothing half done here.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, request: &PreparedRequest<'_>) -> Option<Reply> {
        let turn = {
            let mut state = self.state();
            state.asked += 1;
            if self.recording {
                state.requests.push(RecordedRequest::of(request));
            }
            state.asked - 1
        };
        match &self.shared.script {
            Script::List(replies) => replies.get(turn).cloned(),
            Script::Function(reply) => Some(reply(&RecordedRequest::of(request))),
        }
    }
}

#[async_trait]
impl Model for ScriptedModel {
    fn id(&self) -> ModelId {
        self.id.clone()
    }

    fn native_tools(&self) -> bool {
        self.native_tools
    }

    async fn respond(
        &self,
        request: &PreparedRequest<'_>,
        chunks: &mut ChunkSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        let Some(reply) = self.next(request) else {
            return Err(ModelError::permanent("the script has no more replies"));
        };
        if let Some(delay) = reply.delay {
            tokio::time::sleep(delay).await;
        }
        for chunk in &reply.chunks {
            chunks.text(chunk);
        }
        match reply.body {
            Body::Text(text) => {
                if reply.chunks.is_empty() {
                    chunks.text(&text);
                }
                Ok(ModelReply::text(text).with_usage(reply.usage))
            }
            Body::Calls { text, mut calls } => {
                let mut state = self.state();
                for call in &mut calls {
                    state.calls += 1;
                    if let Some(id) = call.id.strip_prefix(Reply::NUMBERED) {
                        call.id = format!("call_{}{id}", state.calls);
                    }
                }
                drop(state);
                Ok(ModelReply::calls(text, calls).with_usage(reply.usage))
            }
            Body::Truncated(text) => Ok(ModelReply::text(text).with_finish_reason(FinishReason::Length)),
            Body::Transient(message) => {
                let error = ModelError::transient(message);
                Err(match reply.retry_after {
                    Some(wait) => error.with_retry_after(wait),
                    None => error,
                })
            }
            Body::Permanent(message) => Err(ModelError::permanent(message)),
            Body::Panic(message) => std::panic::panic_any(message),
            Body::Hang => std::future::pending().await,
        }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel")
            .field("id", &self.id)
            .field("asked", &self.request_count())
            .finish_non_exhaustive()
    }
}

/// Waits that tests need not sit through: retries without delay.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel, retry_at_once};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::transient("busy"), Reply::text("done")]);
/// let agent = Agent::builder("a").model(model).retry(retry_at_once()).build()?;
/// assert_eq!(agent.invoke("Go.").await?.text(), "done");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn retry_at_once() -> crate::rules::Retry {
    crate::rules::Retry::new().min_delay(Duration::ZERO).max_delay(Duration::ZERO)
}
