//! Who did what: an observer writes it down, and cannot get in the way.

use std::sync::{Arc, Mutex};

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use serde_json::json;

/// Pay a bill.
#[tool(capability = "money")]
fn pay(cents: u64) -> u64 {
    cents
}

#[before_model]
fn note(request: &mut ModelRequest<'_>) {
    request.this_step().append_system("Pay what is due.");
}

#[tokio::test]
async fn p3_an_audit_log_says_what_hooks_and_tools_did() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&log);
    let agent = Agent::builder("payer")
        .model(ScriptedModel::new([Reply::call("pay", json!({ "cents": 5 })), Reply::text("paid")]))
        .tools(tools![pay])
        .hooks(hooks![note])
        .observer(move |event: &RunEvent| {
            let line = match event {
                RunEvent::HookRan { hook, changes, .. } => format!("{hook}: {} changes", changes.len()),
                RunEvent::ToolFinished { tool, succeeded, .. } => format!("{tool}: {succeeded}"),
                RunEvent::Completed(answer) => format!("answer: {answer}"),
                _ => return,
            };
            written.lock().unwrap().push(line);
        })
        .observer(|_: &RunEvent| panic!("a broken dashboard"))
        .build()
        .unwrap();
    agent.invoke("Pay.").await.unwrap();
    assert_eq!(*log.lock().unwrap(), ["note: 1 changes", "pay: true", "note: 1 changes", "answer: paid"]);
}
