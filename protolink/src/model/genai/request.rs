//! From a prepared request to `genai`'s: calls and outcomes are unfolded into what the provider wants.

use genai::adapter::AdapterKind;
use genai::chat::{Binary, ChatMessage, ChatRequest, ContentPart, MessageContent, Tool, ToolCall, ToolResponse};

use super::reply::Kept;
use super::target::Place;
use crate::message::{Attachment, AttachmentSource, Content, Exchange, Message, Turn};
use crate::model::error::ModelError;
use crate::model::request::PreparedRequest;

pub(super) fn unfold(request: &PreparedRequest<'_>, place: Place) -> Result<ChatRequest, ModelError> {
    let mut chat = ChatRequest::default();
    let system = system(request, place);
    if !system.is_empty() {
        chat.system = Some(system);
    }
    for message in request.messages() {
        match &**message {
            Message::User(content) => chat.messages.push(ChatMessage::user(user_parts(content, place)?)),
            Message::Assistant(turn) => unfold_turn(turn, place, &mut chat.messages),
        }
    }
    if !request.tools().is_empty() {
        let tools = request
            .tools()
            .iter()
            .map(|tool| Tool::new(tool.name()).with_description(tool.description()).with_schema(tool.schema().clone()));
        chat.tools = Some(tools.collect());
    }
    Ok(chat)
}

/// The system message; it tells of the answer's schema where the request has no other place for it.
fn system(request: &PreparedRequest<'_>, place: Place) -> String {
    let mut system = request.system().to_owned();
    if let Some(schema) = request.answer_schema().filter(|_| !place.takes_schema()) {
        if !system.is_empty() {
            system.push_str("\n\n");
        }
        system.push_str("Give your answer as JSON of this schema, and nothing else: ");
        system.push_str(&schema.to_string());
    }
    system
}

fn user_parts(content: &Content, place: Place) -> Result<MessageContent, ModelError> {
    if content.attachments.is_empty() {
        return Ok(MessageContent::from_text(content.text.as_str()));
    }
    let mut parts = Vec::with_capacity(content.attachments.len() + 1);
    if !content.text.is_empty() {
        parts.push(ContentPart::from_text(content.text.as_str()));
    }
    for attachment in &content.attachments {
        check_attachment(attachment, place)?;
        let media_type = attachment.media_type.as_str();
        parts.push(ContentPart::Binary(match &attachment.source {
            AttachmentSource::Url(url) => Binary::from_url(media_type, url.as_str(), None),
            AttachmentSource::Base64(data) => Binary::from_base64(media_type, data.clone(), None),
        }));
    }
    Ok(MessageContent::from_parts(parts))
}

/// Refuses what `genai` would leave out of the request without a word.
fn check_attachment(attachment: &Attachment, place: Place) -> Result<(), ModelError> {
    let by_url = matches!(attachment.source, AttachmentSource::Url(_));
    let kind = attachment.media_type.split('/').next().unwrap_or_default();
    let is_sent = match place.adapter {
        AdapterKind::OpenAI => !by_url || matches!(kind, "image" | "video"),
        AdapterKind::Anthropic => !by_url || kind != "image",
        AdapterKind::Ollama | AdapterKind::OllamaCloud => !by_url && kind == "image",
        _ => true,
    };
    if is_sent {
        return Ok(());
    }
    let (provider, way) = (place.adapter.as_lower_str(), if by_url { "by its URL" } else { "inside the message" });
    Err(ModelError::permanent(format!("the provider `{provider}` takes no {kind} attachment {way}")))
}

fn unfold_turn(turn: &Turn, place: Place, messages: &mut Vec<ChatMessage>) {
    let kept = Kept::of(turn, place);
    let mut parts = kept.leading;
    if let Some(text) = turn.text.as_deref().filter(|text| !text.is_empty()) {
        parts.push(ContentPart::from_text(text));
    }
    let signatures = kept.calls.into_iter().map(Some).chain(std::iter::repeat(None));
    for (Exchange { call, .. }, signatures) in turn.calls.iter().zip(signatures) {
        parts.push(ContentPart::ToolCall(ToolCall {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: call.arguments.clone(),
            thought_signatures: signatures.filter(|signatures| !signatures.is_empty()),
        }));
    }
    if parts.is_empty() {
        // Providers refuse a turn that says nothing and calls nothing.
        return;
    }
    messages.push(ChatMessage::assistant(MessageContent::from_parts(parts)));
    let responses = turn.calls.iter().map(|Exchange { call, outcome }| {
        ToolResponse::new(call.id.as_str(), outcome.to_model_text()).with_fn_name(call.name.as_str())
    });
    if place.is_ollama() {
        // Ollama's messages hold one result each.
        messages.extend(responses.map(ChatMessage::from));
    } else if !turn.calls.is_empty() {
        messages.push(ChatMessage::from(responses.collect::<Vec<_>>()));
    }
}
