//! Replies as Ollama's own chat writes them.

use serde_json::{Value, json};

use super::format::{End, Said};

fn message(text: &str, said: &Said) -> Value {
    let mut message = json!({ "role": "assistant", "content": text });
    if !said.calls.is_empty() {
        let calls = said.calls.iter();
        message["tool_calls"] =
            calls.map(|call| json!({ "function": { "name": call.name, "arguments": call.arguments } })).collect();
    }
    message
}

fn last(mut line: Value, said: &Said) -> Value {
    line["done"] = true.into();
    line["done_reason"] = if said.end == End::Length { "length" } else { "stop" }.into();
    line["prompt_eval_count"] = said.usage.input_tokens.into();
    line["eval_count"] = said.usage.output_tokens.into();
    line
}

pub(super) fn whole(said: &Said) -> Value {
    last(json!({ "model": "scripted", "message": message(&said.text(), said) }), said)
}

pub(super) fn pieces(said: &Said) -> Vec<String> {
    let line = |message: Value| json!({ "model": "scripted", "message": message, "done": false });
    let mut lines: Vec<Value> =
        said.chunks.iter().map(|text| line(json!({ "role": "assistant", "content": text }))).collect();
    if !said.calls.is_empty() {
        lines.push(line(message("", said)));
    }
    if said.end != End::Broken {
        lines.push(last(line(json!({ "role": "assistant", "content": "" })), said));
    }
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}
