//! Large results that are kept aside, and the tool by which the model reads them.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::message::Message;
use crate::tool::{ToolFailure, ToolSpec};

/// The name of the built-in tool that reads a result which was kept aside.
pub const READ_ARTIFACT: &str = "read_artifact";

/// The description of the reading tool.
pub(crate) fn read_artifact_tool() -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": { "artifact": { "type": "string" }, "offset": { "type": "integer", "minimum": 0 } },
        "required": ["artifact"],
        "additionalProperties": false,
    });
    ToolSpec::new(READ_ARTIFACT.to_owned(), "Reads a page of a large result.".to_owned(), schema, Vec::new(), true)
}

/// Reads a page of a result which the request showed as a preview.
pub(crate) fn read_artifact(
    _messages: &[Arc<Message>],
    _arguments: &Value,
    _page_chars: usize,
) -> Result<Value, ToolFailure> {
    Err(ToolFailure::Rejected("there is no such artifact".to_owned()))
}
