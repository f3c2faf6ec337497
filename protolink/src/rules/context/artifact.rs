//! Results that are kept aside, and the tool by which the model reads them.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::message::{Exchange, Message, OutcomeText, part};
use crate::tool::{ToolFailure, ToolSpec};

/// The name of the built-in tool that reads a result which was kept aside.
pub const READ_ARTIFACT: &str = "read_artifact";

/// The description of the reading tool.
pub(crate) fn read_artifact_tool() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {
            "artifact": { "type": "string", "description": "The artifact's id, as the preview names it." },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "description": "The character to read from; 0 unless given. A page names the next one.",
            },
        },
        "required": ["artifact"],
        "additionalProperties": false,
    });
    let description = "Reads a page of a tool result that was too long to show whole.".to_owned();
    ToolSpec::new(READ_ARTIFACT.to_owned(), description, schema, Vec::new(), true)
}

/// Whether the text of this exchange is an artifact. A page of one is not: it can be read again where it came from.
pub(super) fn is_artifact(exchange: &Exchange) -> bool {
    exchange.call.name != READ_ARTIFACT && OutcomeText::of(&exchange.outcome).is_some()
}

/// The ids of the artifacts of a request.
///
/// An artifact's id is its call's id. Providers number calls by turn, so that several calls of a conversation can
/// have one id: the second is then `id#2`, and so on.
pub(super) struct ArtifactIds<'m> {
    by_call: HashMap<&'m str, Vec<(usize, usize)>>,
}

impl<'m> ArtifactIds<'m> {
    pub(super) fn of(messages: &'m [Arc<Message>]) -> Self {
        let mut by_call: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (message, exchange, found) in exchanges(messages) {
            by_call.entry(&found.call.id).or_default().push((message, exchange));
        }
        Self { by_call }
    }

    /// The id of the exchange at this place.
    pub(super) fn id(&self, message: usize, exchange: usize, call_id: &str) -> String {
        let earlier = self.by_call.get(call_id).and_then(|places| places.binary_search(&(message, exchange)).ok());
        match earlier {
            None | Some(0) => call_id.to_owned(),
            Some(earlier) => format!("{call_id}#{}", earlier + 1),
        }
    }
}

fn exchanges(messages: &[Arc<Message>]) -> impl Iterator<Item = (usize, usize, &Exchange)> {
    messages.iter().enumerate().flat_map(|(index, message)| {
        message.calls().iter().enumerate().map(move |(exchange, found)| (index, exchange, found))
    })
}

fn find<'m>(messages: &'m [Arc<Message>], artifact: &str) -> Option<&'m Exchange> {
    let numbered = |id: &str, number: usize| {
        exchanges(messages).map(|(_, _, found)| found).filter(|found| found.call.id == id).nth(number)
    };
    let found = numbered(artifact, 0).or_else(|| {
        let (id, number) = artifact.rsplit_once('#')?;
        numbered(id, number.parse::<usize>().ok()?.checked_sub(1)?)
    });
    found.filter(|found| is_artifact(found))
}

/// Reads a page of a result which the request showed as a preview.
///
/// The pages of a text join to that text, whatever characters it is made of. What is read is what the hooks let the
/// model see, in the messages of the request that named the artifact; the receipt's own result is not read.
///
/// # Errors
/// [`ToolFailure::Rejected`] where there is no such artifact or no such character in it, or where the arguments are
/// not the tool's.
pub(crate) fn read_artifact(
    messages: &[Arc<Message>],
    arguments: &Value,
    page_chars: usize,
) -> Result<Value, ToolFailure> {
    let (artifact, offset) = parse(arguments).map_err(|reason| ToolFailure::Rejected(reason.to_owned()))?;
    let exchange = find(messages, artifact);
    let Some(text) = exchange.and_then(|exchange| OutcomeText::of(&exchange.outcome)) else {
        return Err(ToolFailure::Rejected("there is no such artifact".to_owned()));
    };
    let text = text.whole();
    let total_chars = text.chars().count();
    if offset > total_chars {
        return Err(ToolFailure::Rejected(format!("the artifact has {total_chars} characters")));
    }
    // A page of nothing would never come to an end.
    let next = offset.saturating_add(page_chars.max(1));
    Ok(json!({
        "artifact": artifact,
        "offset": offset,
        "text": part(&text, offset, page_chars.max(1)),
        "next_offset": if next < total_chars { Some(next) } else { None },
        "total_chars": total_chars,
    }))
}

fn parse(arguments: &Value) -> Result<(&str, usize), &'static str> {
    let arguments = arguments.as_object().ok_or("the arguments must be a JSON object")?;
    if arguments.keys().any(|name| name != "artifact" && name != "offset") {
        return Err("there are no arguments beside `artifact` and `offset`");
    }
    let artifact = arguments.get("artifact").and_then(Value::as_str).ok_or("`artifact` must be a text")?;
    let offset = match arguments.get("offset") {
        None | Some(Value::Null) => 0,
        Some(offset) => offset.as_u64().ok_or("`offset` must be an integer, 0 or more")?,
    };
    // What no text can be as long as is past the end of this one too.
    Ok((artifact, usize::try_from(offset).unwrap_or(usize::MAX)))
}
