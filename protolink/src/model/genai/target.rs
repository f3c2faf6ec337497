//! Who is asked, where, and with which key.

use std::fmt;

use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Headers, ModelIden, ServiceTarget};

use super::fault;
use super::options::Options;
use crate::model::error::ModelError;
use crate::model::request::ModelId;

/// What was said about the server.
#[derive(Clone, Default)]
pub(super) struct Address {
    pub(super) provider: Option<String>,
    base_url: Option<String>,
    pub(super) key: Key,
}

/// Where the key comes from.
#[derive(Clone, Default)]
pub(super) enum Key {
    /// From the environment variable that is the provider's own; for a given base URL there is none.
    #[default]
    Default,
    Given(String),
    Environment(String),
}

/// The server of one request.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) adapter: AdapterKind,
    /// Whether it is a server of the user's own choice, so that a model's name is sent as it is.
    pub(super) own: bool,
}

impl Place {
    /// Whether it is asked in Ollama's own words.
    pub(super) fn is_ollama(self) -> bool {
        matches!(self.adapter, AdapterKind::Ollama | AdapterKind::OllamaCloud)
    }

    /// Whether a request can carry fields that the adapter does not know.
    pub(super) fn takes_extra_fields(self) -> bool {
        self.takes_schema()
    }

    /// Whether a request can carry the schema of its answer.
    pub(super) fn takes_schema(self) -> bool {
        !self.is_ollama()
            && !matches!(self.adapter, AdapterKind::Cohere | AdapterKind::BedrockApi | AdapterKind::Vertex)
    }

    /// Whether the adapter has a place of its own for a seed.
    pub(super) fn takes_seed(self) -> bool {
        use AdapterKind::{Anthropic, BedrockApi, Cohere, MiniMax, Vertex};
        !matches!(self.adapter, Anthropic | BedrockApi | Cohere | MiniMax | Vertex)
    }
}

impl Address {
    pub(super) fn set_base_url(&mut self, url: &str) {
        let (path, query) = url.trim().split_once('?').map_or((url.trim(), None), |(path, query)| (path, Some(query)));
        let mut base = path.trim_end_matches('/').to_owned();
        // Without its slash the last part of the path would be replaced, not extended.
        base.push('/');
        if let Some(query) = query {
            base.push('?');
            base.push_str(query);
        }
        self.base_url = Some(base);
    }

    pub(super) fn place(&self, model: &str) -> Result<Place, ModelError> {
        let adapter = match (&self.provider, &self.base_url) {
            (Some(provider), _) => AdapterKind::from_lower_str(provider)
                .ok_or_else(|| ModelError::permanent(format!("genai knows no provider `{provider}`")))?,
            (None, Some(_)) => AdapterKind::OpenAI,
            (None, None) => AdapterKind::from_model(model).map_err(fault::of)?,
        };
        Ok(Place { adapter, own: self.base_url.is_some() })
    }

    pub(super) fn model_id(&self, model: &str) -> ModelId {
        let provider = match (&self.provider, &self.base_url) {
            (Some(provider), _) => provider.clone(),
            (None, Some(_)) => "openai-compatible".to_owned(),
            (None, None) => AdapterKind::from_model(model).map_or("unknown", |kind| kind.as_lower_str()).to_owned(),
        };
        ModelId::new(provider, model)
    }

    pub(super) async fn target(
        &self,
        client: &Client,
        place: Place,
        model: &str,
        options: &Options,
    ) -> Result<ServiceTarget, ModelError> {
        let model = ModelIden::new(place.adapter, model);
        let mut target = super::quietly(client.resolve_service_target(model)).await.map_err(fault::of)?;
        if let Some(url) = &self.base_url {
            target.endpoint = Endpoint::from_owned(url.as_str());
        }
        target.auth = match &self.key {
            Key::Given(key) => AuthData::from_single(key.as_str()),
            Key::Environment(variable) => AuthData::from_env(variable.as_str()),
            Key::Default if !place.own => return Ok(target),
            // A server that wants no key is sent no header about it.
            Key::Default if place.adapter == AdapterKind::OpenAI => {
                AuthData::RequestOverride { url: self.chat_url(), headers: Headers::from(options.headers.clone()) }
            }
            Key::Default => AuthData::from_single(""),
        };
        Ok(target)
    }

    fn chat_url(&self) -> String {
        let base = self.base_url.as_deref().unwrap_or_default();
        match base.split_once('?') {
            Some((path, query)) => format!("{path}chat/completions?{query}"),
            None => format!("{base}chat/completions"),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}
