//! The built-in tool by which the model asks the user a question.

use serde_json::{Value, json};

use super::definition::BoundTool;
use super::spec::ToolSpec;

/// The tool's name.
pub(crate) const ASK_USER: &str = "ask_user";

pub(crate) fn ask_user_tool() -> BoundTool {
    let schema = json!({
        "type": "object",
        "properties": { "question": { "type": "string", "description": "What to ask." } },
        "required": ["question"],
        "additionalProperties": false,
    });
    let description = "Asks the user a question and gives back the answer. It may take long.".to_owned();
    BoundTool::built_in(ToolSpec::new(ASK_USER.to_owned(), description, schema, Vec::new(), true))
}

/// The question that a call asks.
pub(crate) fn question(arguments: &Value) -> Result<String, String> {
    let question = arguments.get("question").and_then(Value::as_str).map(str::to_owned);
    question.ok_or_else(|| "`question` must be a text".to_owned())
}
