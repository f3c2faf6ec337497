//! From what a server gives back to the JSON that a receipt keeps.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use super::McpMedia;
use super::error::{McpError, cut};
use super::listed::Remote;
use crate::tool::ToolError;

/// The result of a call, or what the model is told of its failure.
pub(super) fn into_value(result: CallToolResult, remote: &Remote) -> Result<Value, ToolError> {
    if result.is_error == Some(true) {
        let message = cut(&words(&result));
        return Err(ToolError::reported(McpError::Failed { tool: remote.name.clone(), message }));
    }
    if let Some(structured) = result.structured_content {
        return Ok(structured);
    }
    let mut content = result.content;
    if content.len() == 1
        && let Some(ContentBlock::Text(text)) = content.pop_if(|block| matches!(block, ContentBlock::Text(_)))
    {
        return Ok(Value::String(text.text));
    }
    if content.is_empty() {
        return Ok(Value::Null);
    }
    content.into_iter().map(|block| piece(block, remote)).collect::<Result<Vec<_>, _>>().map(Value::Array)
}

fn piece(block: ContentBlock, remote: &Remote) -> Result<Value, ToolError> {
    Ok(match block {
        ContentBlock::Text(text) => json!({ "type": "text", "text": text.text }),
        ContentBlock::Image(image) => media(remote, "image", image.mime_type, image.data)?,
        ContentBlock::Audio(audio) => media(remote, "audio", audio.mime_type, audio.data)?,
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                json!({ "type": "resource", "uri": uri, "text": text })
            }
            ResourceContents::BlobResourceContents { mime_type, blob, .. } => {
                media(remote, "resource", mime_type.unwrap_or_default(), blob)?
            }
            _ => media(remote, "resource", String::new(), String::new())?,
        },
        ContentBlock::ResourceLink(link) => json!({ "type": "resource_link", "uri": link.uri, "name": link.name }),
        _ => media(remote, "content", String::new(), String::new())?,
    })
}

fn media(remote: &Remote, kind: &'static str, media_type: String, base64: String) -> Result<Value, ToolError> {
    let tool = remote.local.to_string();
    match &remote.on_media {
        Some(handler) => handler(McpMedia { tool, kind, media_type, base64 }),
        None => Err(ToolError::reported(McpError::Media { tool, kind, media_type, bytes: base64.len() })),
    }
}

/// What an error says.
fn words(result: &CallToolResult) -> String {
    let texts: Vec<&str> =
        result.content.iter().filter_map(ContentBlock::as_text).map(|text| text.text.as_str()).collect();
    match (&result.structured_content, texts.is_empty()) {
        (Some(structured), true) => structured.to_string(),
        (None, true) => "the tool failed, and does not say why".to_owned(),
        _ => texts.join("\n"),
    }
}
