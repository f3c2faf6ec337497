//! From what `genai` gathered to a reply that counts.

use genai::chat::{ChatResponse, ContentPart, MessageContent, StopReason, StreamEnd, ToolCall as GenaiCall, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fault;
use super::target::Place;
use crate::message::{ToolCall, Turn};
use crate::model::error::ModelError;
use crate::model::reply::{FinishReason, ModelReply, Usage as ReplyUsage};

/// What a reply is made of, whichever way it came.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) text: String,
    pub(super) calls: Vec<GenaiCall>,
    pub(super) leading: Vec<KeptPart>,
    pub(super) reasoning: Option<String>,
    pub(super) stop: Option<StopReason>,
    pub(super) usage: Usage,
}

/// What a provider wants back unread with a turn, in words that do not depend on a version of `genai`.
#[derive(Serialize, Deserialize)]
struct KeptData {
    adapter: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    leading: Vec<KeptPart>,
    /// The signatures of each call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Vec<String>>,
}

/// A part of a turn that nobody but the provider reads.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeptPart {
    Signature(String),
    Reasoning(String),
    Block(Value),
}

/// What goes back with a turn to the provider that made it; to another it would mean nothing.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) leading: Vec<ContentPart>,
    pub(super) calls: Vec<Vec<String>>,
}

impl Kept {
    pub(super) fn of(turn: &Turn, place: Place) -> Self {
        let data = turn.provider.as_ref().and_then(|data| KeptData::deserialize(data).ok());
        let Some(data) = data.filter(|data| data.adapter == place.adapter.as_lower_str()) else {
            return Self::default();
        };
        let leading = data.leading.into_iter().map(|part| match part {
            KeptPart::Signature(signature) => ContentPart::ThoughtSignature(signature),
            KeptPart::Reasoning(reasoning) => ContentPart::ReasoningContent(reasoning),
            KeptPart::Block(block) => ContentPart::from_custom(block, None),
        });
        Self { leading: leading.collect(), calls: data.calls }
    }
}

pub(super) fn of_stream(end: StreamEnd, place: Place) -> Result<ModelReply, ModelError> {
    if end.captured_stop_reason.is_none() {
        // Ollama's stream is given an end by genai where it broke off; without a reason to stop it is not whole.
        return Err(ModelError::transient("the stream ended before the model said why it stopped"));
    }
    let gathered = Gathered {
        reasoning: end.captured_reasoning_content,
        stop: end.captured_stop_reason,
        usage: end.captured_usage.unwrap_or_default(),
        ..Gathered::of(end.captured_content.unwrap_or_default())
    };
    gathered.into_reply(place)
}

pub(super) fn of_response(response: ChatResponse, place: Place) -> Result<ModelReply, ModelError> {
    if response.stop_reason.is_none() && response.content.is_empty() {
        // Some gateways report errors with the status of a success.
        return Err(fault::of_body(&response.captured_raw_body.unwrap_or_default()));
    }
    let gathered = Gathered {
        reasoning: response.reasoning_content,
        stop: response.stop_reason,
        usage: response.usage,
        ..Gathered::of(response.content)
    };
    gathered.into_reply(place)
}

impl Gathered {
    fn of(content: MessageContent) -> Self {
        let mut gathered = Self::default();
        for part in content {
            match part {
                ContentPart::Text(text) => gathered.text.push_str(&text),
                ContentPart::ToolCall(call) => gathered.calls.push(call),
                ContentPart::ThoughtSignature(signature) => gathered.leading.push(KeptPart::Signature(signature)),
                ContentPart::ReasoningContent(reasoning) => gathered.leading.push(KeptPart::Reasoning(reasoning)),
                ContentPart::Custom(block) => gathered.leading.push(KeptPart::Block(block.data)),
                ContentPart::Binary(_) | ContentPart::ToolResponse(_) => {}
            }
        }
        gathered
    }

    pub(super) fn into_reply(mut self, place: Place) -> Result<ModelReply, ModelError> {
        let usage = usage(&self.usage);
        let mut finish = finish_reason(self.stop.as_ref());
        self.drop_fillers();
        if self.calls.iter_mut().any(|call| !mend_arguments(&mut call.fn_arguments)) {
            // Arguments that are no JSON stopped half-way (contract F5).
            finish = FinishReason::Length;
        }
        if matches!(finish, FinishReason::Length | FinishReason::ContentFilter) {
            return Ok(ModelReply::text("").with_usage(usage).with_finish_reason(finish));
        }
        if self.calls.is_empty() && finish == FinishReason::ToolCalls {
            return Err(ModelError::transient("the model stopped to call tools and named none"));
        }
        let kept = self.kept(place);
        let reply = if self.calls.is_empty() {
            ModelReply::text(self.text)
        } else {
            let text = Some(self.text).filter(|text| !text.is_empty());
            let calls = self.calls.into_iter().map(|call| ToolCall::new(call.call_id, call.fn_name, call.fn_arguments));
            ModelReply::calls(text, calls.collect())
        };
        let reply = reply.with_usage(usage).with_finish_reason(finish);
        Ok(match kept {
            Some(kept) => reply.with_provider(kept),
            None => reply,
        })
    }

    /// Drops the copies by which genai fills a gap in the indices of streamed calls.
    fn drop_fillers(&mut self) {
        let mut later: Vec<GenaiCall> = Vec::with_capacity(self.calls.len());
        while let Some(call) = self.calls.pop() {
            let is_filler = later.last().is_some_and(|next| {
                next.call_id == call.call_id && next.fn_name == call.fn_name && !call.fn_arguments.is_object()
            });
            if !is_filler {
                later.push(call);
            }
        }
        later.reverse();
        self.calls = later;
    }

    /// What goes back with this turn. Reasoning that nobody signed matters only while the turn's tools are answered.
    fn kept(&mut self, place: Place) -> Option<Value> {
        let mut leading = std::mem::take(&mut self.leading);
        let holds_reasoning = leading.iter().any(|part| matches!(part, KeptPart::Reasoning(_)));
        let holds_proof = leading.iter().any(|part| !matches!(part, KeptPart::Reasoning(_)));
        if self.calls.is_empty() && !holds_proof {
            return None;
        }
        if let Some(reasoning) = self.reasoning.take().filter(|text| !holds_reasoning && !text.is_empty()) {
            leading.push(KeptPart::Reasoning(reasoning));
        }
        let mut calls: Vec<Vec<String>> =
            self.calls.iter_mut().map(|call| call.thought_signatures.take().unwrap_or_default()).collect();
        if calls.iter().all(Vec::is_empty) {
            calls.clear();
        }
        if leading.is_empty() && calls.is_empty() {
            return None;
        }
        serde_json::to_value(KeptData { adapter: place.adapter.as_lower_str().to_owned(), leading, calls }).ok()
    }
}

/// No arguments, however they were written, are `null`; arguments that are no JSON are `false`.
fn mend_arguments(arguments: &mut Value) -> bool {
    match arguments {
        Value::String(text) if text.trim().is_empty() => *arguments = Value::Null,
        Value::String(_) => return false,
        _ => {}
    }
    true
}

fn usage(usage: &Usage) -> ReplyUsage {
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
    ReplyUsage::new(count(usage.prompt_tokens), count(usage.completion_tokens))
}

fn finish_reason(stop: Option<&StopReason>) -> FinishReason {
    match stop {
        Some(StopReason::Completed(_) | StopReason::StopSequence(_)) => FinishReason::Stop,
        Some(StopReason::ToolCall(_)) => FinishReason::ToolCalls,
        Some(StopReason::MaxTokens(_)) => FinishReason::Length,
        Some(StopReason::ContentFilter(_)) => FinishReason::ContentFilter,
        Some(StopReason::Other(word)) => FinishReason::Other(fault::word(word).unwrap_or("unknown").to_owned()),
        None => FinishReason::Other("not said".to_owned()),
    }
}
