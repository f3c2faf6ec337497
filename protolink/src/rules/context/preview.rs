//! What stands in a request in the place of a result that is too long for it.

use serde_json::json;

use super::artifact::READ_ARTIFACT;
use crate::message::{OutcomeText, ToolOutcome};

/// Shows the beginning of a text, says how long it is, and how to read the rest where the step has the tool for it.
///
/// It is about as long as the limit, where the limit leaves room for more than what is said about the text.
pub(super) fn preview(text: OutcomeText<'_>, chars: usize, limit: usize, artifact: Option<&str>) -> String {
    let notice = |shown: usize| match artifact {
        None => format!("[This has {chars} characters; the first {shown} follow, the rest is not shown.]\n"),
        Some(artifact) => {
            let arguments = json!({ "artifact": artifact, "offset": shown });
            format!("[This has {chars} characters; the first {shown} follow. {READ_ARTIFACT} reads on: {arguments}]\n")
        }
    };
    let shown = limit.saturating_sub(notice(limit).len()).max(limit / 2);
    let mut preview = notice(shown);
    preview.push_str(&text.head(shown));
    preview
}

/// Says that a text was taken out of the request, and how to read it where the step has the tool for it.
pub(super) fn cleared(chars: usize, artifact: Option<&str>) -> String {
    match artifact {
        None => format!("[This had {chars} characters and was cleared to make room.]"),
        Some(artifact) => {
            let arguments = json!({ "artifact": artifact });
            format!("[This had {chars} characters and was cleared to make room. {READ_ARTIFACT} reads it: {arguments}]")
        }
    }
}

/// The same outcome with another text.
pub(super) fn with_text(outcome: &ToolOutcome, text: String) -> ToolOutcome {
    match outcome {
        ToolOutcome::Failed(_) => ToolOutcome::Failed(text),
        ToolOutcome::Rejected(_) => ToolOutcome::Rejected(text),
        ToolOutcome::Denied(_) => ToolOutcome::Denied(text),
        _ => ToolOutcome::Observed(serde_json::Value::String(text).into()),
    }
}
