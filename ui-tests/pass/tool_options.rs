#![deny(warnings)]
//! The options of a tool.
use protolink::Tool;
use protolink::prelude::*;

/// Delete a document.
#[tool(
    name = "delete-document",
    type = DeleteDocument,
    capability = "documents.delete",
    capability = "documents.write",
    idempotent,
    on_error = "report",
    crate = ::protolink,
)]
pub(crate) fn delete_document(id: String) -> String {
    id
}

#[before_model]
fn hide(request: &mut ModelRequest<'_>) {
    request.tools().remove::<DeleteDocument>();
}

#[after_tool(tool = DeleteDocument, timeout = "250ms")]
async fn observe(_observation: &mut ToolObservation<'_, String>) {}

pub(crate) fn main() {
    assert_eq!(DeleteDocument::NAME, "delete-document");
    assert_eq!(delete_document("x".to_owned()), "x");
    let _ = Agent::builder("a").tools(tools![DeleteDocument]).hooks(hooks![hide, observe]);
}
