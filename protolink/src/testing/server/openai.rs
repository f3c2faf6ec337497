//! Replies as OpenAI's chat completions write them.

use serde_json::{Value, json};

use super::format::{End, Said};

fn finish_reason(end: End) -> Value {
    match end {
        End::Stop => json!("stop"),
        End::Calls => json!("tool_calls"),
        End::Length => json!("length"),
        End::Broken => Value::Null,
    }
}

fn usage(said: &Said) -> Value {
    let (input, output) = (said.usage.input_tokens, said.usage.output_tokens);
    json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output })
}

pub(super) fn whole(said: &Said) -> Value {
    let mut message = json!({ "role": "assistant", "content": said.text() });
    if !said.calls.is_empty() {
        let calls = said.calls.iter().map(|call| {
            let function = json!({ "name": call.name, "arguments": call.arguments.to_string() });
            json!({ "id": call.id, "type": "function", "function": function })
        });
        message["tool_calls"] = calls.collect();
        if said.chunks.is_empty() {
            message["content"] = Value::Null;
        }
    }
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "scripted",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish_reason(said.end) }],
        "usage": usage(said),
    })
}

pub(super) fn pieces(said: &Said) -> Vec<String> {
    let mut pieces = vec![delta(&json!({ "role": "assistant", "content": "" }), &Value::Null)];
    pieces.extend(said.chunks.iter().map(|text| delta(&json!({ "content": text }), &Value::Null)));
    for (index, call) in said.calls.iter().enumerate() {
        let function = json!({ "name": call.name, "arguments": "" });
        let opening = json!({ "index": index, "id": call.id, "type": "function", "function": function });
        pieces.push(delta(&json!({ "tool_calls": [opening] }), &Value::Null));
        let arguments = json!({ "index": index, "function": { "arguments": call.arguments.to_string() } });
        pieces.push(delta(&json!({ "tool_calls": [arguments] }), &Value::Null));
    }
    if said.end != End::Broken {
        pieces.push(delta(&json!({}), &finish_reason(said.end)));
        pieces.push(frame(&json!({ "id": "chatcmpl-1", "choices": [], "usage": usage(said) })));
        pieces.push("data: [DONE]\n\n".to_owned());
    }
    pieces
}

fn delta(delta: &Value, finish_reason: &Value) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish_reason });
    frame(&json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice] }))
}

fn frame(data: &Value) -> String {
    format!("data: {data}\n\n")
}
