//! Real models, through the `genai` crate.

mod fault;
mod mend;
mod options;
mod reply;
mod request;
mod target;

use std::fmt;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;

use ::genai::chat::{ChatRequest, ChatStream, ChatStreamEvent};
use ::genai::{Client, Error as GenaiError, ServiceTarget, WebConfig};
use async_trait::async_trait;
use futures_core::Stream;
use serde_json::Value;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber;

use super::error::ModelError;
use super::reply::ModelReply;
use super::request::{ChunkSink, Model, ModelId, PreparedRequest};
use options::Options;
use target::{Address, Key, Place};

/// How long a server may stay silent, where nothing was said: models that think before they speak take minutes.
const SILENCE: Duration = Duration::from_mins(10);
const CONNECT: Duration = Duration::from_secs(10);

/// A real model: of any provider that the `genai` crate knows, or behind any OpenAI-compatible base URL.
///
/// It streams where somebody listens. It sends every request once: the agent does the retries, and is told what an error
/// is worth. Errors, events and logs hold nothing of a request, of a reply or of the key.
///
/// ```
/// use protolink::model::GenaiModel;
/// use protolink::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A provider, found by the model's name; its key comes from `OPENAI_API_KEY`.
/// let hosted = Agent::builder("helper").model(GenaiModel::new("gpt-5")).build()?;
///
/// // A server of one's own: Ollama, vLLM, llama.cpp.
/// let local =
///     GenaiModel::new("qwen3").base_url("http://127.0.0.1:11434/v1").option("temperature", 0.2);
/// let own = Agent::builder("helper").model(local).build()?;
/// # Ok(())
/// # }
/// ```
///
/// With the feature `genai` it speaks TLS, by `rustls`. With `genai-http` alone it reaches `http://` addresses only.
///
/// Contract clauses kept here: F5 (a reply that was cut off is no answer), M6 (the request is sent as it was prepared).
#[derive(Clone)]
pub struct GenaiModel {
    name: String,
    address: Address,
    options: Options,
    silence: Duration,
    connect: Duration,
    client: OnceLock<Client>,
}

impl GenaiModel {
    /// The model of this name. Its provider follows from the name (`gpt-..`, `claude-..`, `gemini-..`; any other name is
    /// Ollama's), from [`provider`](Self::provider), or from a prefix: `groq::llama-4`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            address: Address::default(),
            options: Options::default(),
            silence: SILENCE,
            connect: CONNECT,
            client: OnceLock::new(),
        }
    }

    /// Where the model is served, instead of the provider's own address: the part of the URL before
    /// `chat/completions`, with or without a slash at its end.
    ///
    /// Where no [`provider`](Self::provider) is named, it is asked as an OpenAI-compatible server. A key of the
    /// environment is never sent to it by itself: say [`api_key`](Self::api_key) or [`api_key_env`](Self::api_key_env).
    ///
    /// ```
    /// # use protolink::model::GenaiModel;
    /// let model = GenaiModel::new("qwen3").base_url("http://127.0.0.1:11434/v1");
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn base_url(mut self, url: impl AsRef<str>) -> Self {
        self.address.set_base_url(url.as_ref());
        self
    }

    /// The key to send.
    ///
    /// ```
    /// # use protolink::model::GenaiModel;
    /// let model = GenaiModel::new("gpt-5-mini").api_key("from a vault");
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.address.key = Key::Given(key.into());
        self
    }

    /// The environment variable that holds the key; it is read at each request.
    ///
    /// ```
    /// # use protolink::model::GenaiModel;
    /// let model = GenaiModel::new("qwen3")
    ///     .base_url("https://models.example.org/v1")
    ///     .api_key_env("MODELS_KEY");
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn api_key_env(mut self, variable: impl Into<String>) -> Self {
        self.address.key = Key::Environment(variable.into());
        self
    }

    /// The provider, in `genai`'s word for it: `openai`, `openai_resp`, `anthropic`, `gemini`, `ollama`, `groq`,
    /// `deepseek`, `mistral` and so on. A name that it does not know is a permanent error at the first request.
    ///
    /// ```
    /// # use protolink::model::GenaiModel;
    /// let model = GenaiModel::new("llama-4").provider("groq");
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn provider(mut self, provider: impl Into<String>) -> Self {
        self.address.provider = Some(provider.into());
        self
    }

    /// How long the server may stay silent, before its reply begins and between two pieces of it; ten minutes unless
    /// said otherwise. What takes longer is a transient error.
    ///
    /// ```
    /// # use protolink::model::GenaiModel;
    /// # use std::time::Duration;
    /// let model = GenaiModel::new("gpt-5-mini").timeout(Duration::from_secs(90));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn timeout(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self.client = OnceLock::new();
        self
    }

    /// How long a connection may take; ten seconds unless said otherwise.
    ///
    /// ```
    /// # use protolink::model::GenaiModel;
    /// # use std::time::Duration;
    /// let model = GenaiModel::new("gpt-5-mini").connect_timeout(Duration::from_secs(3));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect = timeout;
        self.client = OnceLock::new();
        self
    }

    /// A header that goes with every request.
    ///
    /// ```
    /// # use protolink::model::GenaiModel;
    /// let model = GenaiModel::new("gpt-5-mini").header("x-tenant", "acme");
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.headers.push((name.into(), value.into()));
        self
    }

    /// A setting of the request.
    ///
    /// `temperature`, `top_p`, `max_tokens`, `seed`, `stop` and `reasoning_effort` are put where the provider wants them;
    /// anything else goes into the body of the request under the name that it is given here. A setting that a provider
    /// has no place for is a permanent error, and not dropped.
    ///
    /// ```
    /// # use protolink::model::GenaiModel;
    /// let model =
    ///     GenaiModel::new("gpt-5-mini").option("temperature", 0.2).option("max_tokens", 500);
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.options.set(name.into(), value.into());
        self
    }

    fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let web =
            WebConfig { connect_timeout: Some(self.connect), read_timeout: Some(self.silence), ..WebConfig::default() };
        let client = Client::builder().with_web_config(web).build().map_err(fault::of)?;
        Ok(self.client.get_or_init(|| client))
    }

    async fn call(&self, request: &PreparedRequest<'_>) -> Result<(ServiceTarget, Place, ChatRequest), ModelError> {
        let place = self.address.place(&self.name)?;
        let target = self.address.target(self.client()?, place, &self.name, &self.options).await?;
        Ok((target, place, request::unfold(request, place)?))
    }
}

#[async_trait]
impl Model for GenaiModel {
    fn id(&self) -> ModelId {
        self.address.model_id(&self.name)
    }

    async fn respond(
        &self,
        request: &PreparedRequest<'_>,
        chunks: &mut ChunkSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        let (target, place, chat) = self.call(request).await?;
        let options = self.options.of(place, &self.name, request)?;
        let client = self.client()?;
        if chunks.is_listened_to() {
            let stream =
                quietly(client.exec_chat_stream(target, chat, Some(&options))).await.map_err(fault::of)?.stream;
            return follow(stream, place, chunks).await;
        }
        match quietly(client.exec_chat(target, chat, Some(&options.with_capture_raw_body(true)))).await {
            Ok(response) => reply::of_response(response, place),
            Err(GenaiError::ChatResponseGeneration { response_body, .. }) => mend::reply(&response_body, place),
            Err(error) => Err(fault::of(error)),
        }
    }
}

/// Shows a streamed reply while it comes, and gives it when it is whole.
async fn follow(mut stream: ChatStream, place: Place, chunks: &mut ChunkSink<'_>) -> Result<ModelReply, ModelError> {
    while let Some(event) = quietly(next(&mut stream)).await {
        match event.map_err(fault::of)? {
            ChatStreamEvent::Chunk(chunk) => chunks.text(&chunk.content),
            ChatStreamEvent::End(end) => return reply::of_stream(end, place),
            _ => {}
        }
    }
    Err(ModelError::transient("the stream ended before the reply was whole"))
}

async fn next(stream: &mut ChatStream) -> Option<Result<ChatStreamEvent, GenaiError>> {
    std::future::poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}

/// Waits without a log: `genai` writes the bodies of replies into it, and a provider may repeat a prompt there.
async fn quietly<F: Future>(future: F) -> F::Output {
    future.with_subscriber(Dispatch::none()).await
}

impl fmt::Debug for GenaiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiModel").field("id", &self.id()).finish_non_exhaustive()
    }
}
