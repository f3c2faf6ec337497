//! An answer names what a tool really found, or goes back.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use serde_json::json;

/// Find documents.
#[tool]
fn find(word: String) -> Vec<String> {
    vec![[word, ".md".to_owned()].concat()]
}

#[before_complete]
fn cites(response: &mut FinalResponse<'_>) {
    let answer = response.text().unwrap_or_default().to_owned();
    let found = response.receipts().iter().filter_map(|receipt| receipt.result()?.as_array());
    if !found.flatten().filter_map(|name| name.as_str()).any(|name| answer.contains(name)) {
        response.ask_revision("Name the document that you found it in.");
    }
}

#[tokio::test]
async fn f7_an_answer_without_evidence_goes_back() {
    let model = ScriptedModel::new([
        Reply::call("find", json!({ "word": "lamps" })),
        Reply::text("There are lamps, I think."),
        Reply::text("See lamps.md."),
    ]);
    let agent = Agent::builder("librarian")
        .model(model.clone())
        .tools(tools![find])
        .hooks(hooks![cites])
        .max_revisions(1)
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    assert_eq!(conversation.invoke("Lamps?").await.unwrap().text(), "See lamps.md.");
    let kept = format!("{:?}", conversation.messages());
    assert!(!kept.contains("I think"), "a refused answer is not kept: {kept}");
}
