//! Replies as Anthropic's messages write them.

use serde_json::{Value, json};

use super::format::{End, Said};

fn stop_reason(end: End) -> &'static str {
    match end {
        End::Stop | End::Broken => "end_turn",
        End::Calls => "tool_use",
        End::Length => "max_tokens",
    }
}

pub(super) fn whole(said: &Said) -> Value {
    let mut content = Vec::new();
    if !said.chunks.is_empty() {
        content.push(json!({ "type": "text", "text": said.text() }));
    }
    for call in &said.calls {
        content.push(json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments }));
    }
    json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": stop_reason(said.end),
        "usage": { "input_tokens": said.usage.input_tokens, "output_tokens": said.usage.output_tokens },
    })
}

pub(super) fn pieces(said: &Said) -> Vec<String> {
    let usage = json!({ "input_tokens": said.usage.input_tokens, "output_tokens": 0 });
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": usage });
    let mut pieces = vec![frame("message_start", json!({ "message": message }))];
    let mut index = 0;
    if !said.chunks.is_empty() {
        let deltas = said.chunks.iter().map(|text| json!({ "type": "text_delta", "text": text }));
        pieces.extend(block(&mut index, &json!({ "type": "text", "text": "" }), deltas));
    }
    for call in &said.calls {
        let opening = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} });
        let input = json!({ "type": "input_json_delta", "partial_json": call.arguments.to_string() });
        pieces.extend(block(&mut index, &opening, [input]));
    }
    if said.end != End::Broken {
        let delta = json!({ "stop_reason": stop_reason(said.end) });
        let usage = json!({ "output_tokens": said.usage.output_tokens });
        pieces.push(frame("message_delta", json!({ "delta": delta, "usage": usage })));
        pieces.push(frame("message_stop", json!({})));
    }
    pieces
}

fn block(index: &mut usize, opening: &Value, deltas: impl IntoIterator<Item = Value>) -> Vec<String> {
    let mut pieces = vec![frame("content_block_start", json!({ "index": index, "content_block": opening }))];
    pieces.extend(
        deltas.into_iter().map(|delta| frame("content_block_delta", json!({ "index": index, "delta": delta }))),
    );
    pieces.push(frame("content_block_stop", json!({ "index": index })));
    *index += 1;
    pieces
}

fn frame(event: &str, mut data: Value) -> String {
    data["type"] = event.into();
    format!("event: {event}\ndata: {data}\n\n")
}
