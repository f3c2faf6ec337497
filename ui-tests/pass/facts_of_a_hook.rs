#![deny(warnings)]
//! What is known of a hook at compile time.
use protolink::prelude::*;
use protolink::{Hook, Stage};

#[tool]
fn search(query: String) -> String {
    query
}

#[after_tool(tool = search)]
async fn keep<'a>(
    _observation: &'a mut ToolObservation<'_, String>,
    State(_n): State<u32>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Ok(())
}

pub(crate) fn main() {
    let meta = keep::META;
    assert_eq!(meta.stage, Stage::AfterTool);
    assert_eq!(meta.name, "keep");
    assert!(meta.file.ends_with("facts_of_a_hook.rs"));
    assert_eq!(meta.line, 11);
    assert_eq!(meta.tool, Some("search"));
    assert_eq!(
        meta.signature,
        "async fn keep<'a>(_observation: &'a mut ToolObservation<'_, String>, State(_n): State<u32>) -> Result<(), \
         Box<dyn std::error::Error + Send + Sync>>"
    );
    assert!(meta.fingerprint.is_some_and(|fingerprint| fingerprint.to_string().starts_with("fp1:")));
}
