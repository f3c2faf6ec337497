//! Replies that `genai` refuses, and that servers really send: calls without arguments, without a type, without an id.

use genai::chat::{StopReason, ToolCall, Usage};
use serde_json::Value;

use super::fault;
use super::reply::Gathered;
use super::target::Place;
use crate::model::error::ModelError;
use crate::model::reply::ModelReply;

/// Reads a whole reply in the format of OpenAI's chat.
pub(super) fn reply(body: &Value, place: Place) -> Result<ModelReply, ModelError> {
    let choice = &body["choices"][0];
    let message = &choice["message"];
    let Some(calls) = message["tool_calls"].as_array() else { return Err(fault::of_body(body)) };
    let calls = calls.iter().enumerate().map(|(index, call)| of_call(index, call));
    let gathered = Gathered {
        text: message["content"].as_str().unwrap_or_default().to_owned(),
        calls: calls.collect::<Option<_>>().ok_or_else(not_understood)?,
        reasoning: message["reasoning_content"].as_str().or(message["reasoning"].as_str()).map(str::to_owned),
        stop: choice["finish_reason"].as_str().map(|reason| StopReason::from(reason.to_owned())),
        usage: Usage {
            prompt_tokens: tokens(&body["usage"]["prompt_tokens"]),
            completion_tokens: tokens(&body["usage"]["completion_tokens"]),
            ..Usage::default()
        },
        ..Gathered::default()
    };
    gathered.into_reply(place)
}

fn of_call(index: usize, call: &Value) -> Option<ToolCall> {
    let function = &call["function"];
    let fn_arguments = match &function["arguments"] {
        // What is no JSON stays text, and counts as cut off.
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
        other => other.clone(),
    };
    Some(ToolCall {
        call_id: call["id"].as_str().map_or_else(|| format!("call_{index}"), str::to_owned),
        fn_name: function["name"].as_str()?.to_owned(),
        fn_arguments,
        thought_signatures: None,
    })
}

fn tokens(count: &Value) -> Option<i32> {
    count.as_i64().and_then(|count| i32::try_from(count).ok())
}

fn not_understood() -> ModelError {
    ModelError::permanent("the reply calls a tool without naming it")
}
