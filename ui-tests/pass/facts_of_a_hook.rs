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

mod rules {
    pub(crate) mod deep {
        use protolink::prelude::*;

        macro_rules! quiet {
            ($name:ident) => {
                #[before_complete]
                pub(crate) fn $name(_response: &mut FinalResponse<'_>) {}
            };
        }

        quiet!(r#match);
    }
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

    // Made by a macro, a hook stands where the macro is called.
    let meta = rules::deep::r#match::META;
    assert_eq!((meta.stage, meta.name, meta.line), (Stage::BeforeComplete, "match", 30));
    assert!(meta.module.ends_with("::rules::deep") && meta.file.ends_with("facts_of_a_hook.rs"), "{meta:?}");
    assert_eq!(meta.signature, "fn r#match(_response: &mut FinalResponse<'_>)");
    assert_eq!((meta.tool, meta.timeout), (None, None));
}
