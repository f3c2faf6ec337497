//! An assistant over this repository's own documents, offline: `cargo run --example quickstart`.
//!
//! The model is scripted, and badly behaved: it also asks for a tool that a hook took away. Everything else is real:
//! the search reads files, the hooks run where they would run in production, and the receipt is what happened.

use protolink::ToolOutcome;
use protolink::prelude::*;
use protolink::testing::{RecordedRequest, Reply, ScriptedModel};
use protolink_examples::assistant::{App, check_citation, delete_document, keep_hits, search, select_context};
use protolink_examples::narrator::narrate;
use serde_json::json;

/// Stands in for a model: it searches first, tries to delete what it found, and answers from the first hit.
fn reply(request: &RecordedRequest) -> Reply {
    let last = request.messages.last();
    let found = last.and_then(|message| message.calls().first());
    match found.map(|exchange| &exchange.outcome) {
        Some(ToolOutcome::Observed(result)) => {
            let hit = &result["hits"][0];
            let (document, line) = (hit["document"].as_str().unwrap_or("?"), &hit["line"]);
            Reply::text(format!("A receipt is what a tool really gave back. See {document}, line {line}."))
        }
        _ => Reply::calls([
            ("search", json!({ "word": "receipt" })),
            ("delete_document", json!({ "document": "README.md" })),
        ]),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = Agent::builder("librarian")
        .instructions("Answer questions about this project from its documents.")
        .model(ScriptedModel::from_fn(reply))
        .state(App::of_this_repository())
        .tools(tools![search, delete_document])
        .hooks(hooks![select_context, keep_hits, check_citation])
        .capture_content(true)
        .observer(narrate)
        .build()?;

    println!("question\n  What is a receipt?");
    agent.invoke("What is a receipt?").await?;
    Ok(())
}
