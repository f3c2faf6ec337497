//! The settings of a request.

use genai::Headers;
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatResponseFormat, JsonSpec, ReasoningEffort};
use serde_json::{Map, Value};

use super::target::Place;
use crate::model::error::ModelError;
use crate::model::request::PreparedRequest;

/// What was set on a model, as it was said; where it goes depends on the provider.
#[derive(Clone, Default)]
pub(super) struct Options {
    pub(super) headers: Vec<(String, String)>,
    settings: Vec<(String, Value)>,
}

impl Options {
    pub(super) fn set(&mut self, name: String, value: Value) {
        self.settings.retain(|(other, _)| *other != name);
        self.settings.push((name, value));
    }

    /// What `genai` is told for this request.
    pub(super) fn of(
        &self,
        place: Place,
        model: &str,
        request: &PreparedRequest<'_>,
    ) -> Result<ChatOptions, ModelError> {
        let mut options = ChatOptions::default()
            .with_capture_content(true)
            .with_capture_tool_calls(true)
            .with_capture_usage(true)
            .with_capture_reasoning_content(true);
        let mut fields = Map::new();
        if place.own && place.adapter == AdapterKind::OpenAI {
            // genai reads an effort out of names like `qwen-max` and sends the rest; here the name is the name.
            fields.insert("model".to_owned(), model.into());
            if ReasoningEffort::from_model_name(model).0.is_some() {
                options.reasoning_effort = Some(ReasoningEffort::Budget(0));
            }
        }
        for (name, value) in &self.settings {
            if !set_known(&mut options, place, name, value) {
                fields.insert(name.clone(), value.clone());
            }
        }
        if let Some(schema) = request.answer_schema() {
            options.response_format = answer_format(place, schema, request.tools().is_empty());
        }
        if let Some(name) = fields.keys().next().filter(|_| !place.takes_extra_fields()) {
            let provider = place.adapter.as_lower_str();
            return Err(ModelError::permanent(format!(
                "the provider `{provider}` has no place for the option `{name}`"
            )));
        }
        if !fields.is_empty() {
            options.extra_body = Some(Value::Object(fields));
        }
        if !self.headers.is_empty() {
            options.extra_headers = Some(Headers::from(self.headers.clone()));
        }
        Ok(options)
    }
}

/// Sets what every provider has its own place for; `false` where this is no such setting, or no fitting value.
fn set_known(options: &mut ChatOptions, place: Place, name: &str, value: &Value) -> bool {
    match name {
        "temperature" => fill(&mut options.temperature, value.as_f64()),
        "top_p" => fill(&mut options.top_p, value.as_f64()),
        "max_tokens" => fill(&mut options.max_tokens, value.as_u64().and_then(|tokens| tokens.try_into().ok())),
        "seed" if place.takes_seed() => fill(&mut options.seed, value.as_u64()),
        "stop" => {
            let Some(words) = stop_words(value) else { return false };
            options.stop_sequences = words;
            true
        }
        "reasoning_effort" if place.adapter != AdapterKind::Cohere => {
            fill(&mut options.reasoning_effort, value.as_str().and_then(ReasoningEffort::from_keyword))
        }
        _ => false,
    }
}

fn fill<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    if value.is_some() {
        *place = value;
    }
    place.is_some()
}

fn stop_words(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(word) => Some(vec![word.clone()]),
        Value::Array(words) => words.iter().map(|word| word.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// How the provider is told of the answer's schema. The one that is told in the system message can at least be held to
/// JSON, unless that would keep it from calling tools.
fn answer_format(place: Place, schema: &Value, without_tools: bool) -> Option<ChatResponseFormat> {
    if place.takes_schema() {
        return Some(JsonSpec::new("answer", schema.clone()).into());
    }
    without_tools.then_some(ChatResponseFormat::JsonMode)
}
