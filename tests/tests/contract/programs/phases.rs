//! Which tools there are depends on how far the work has come.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use serde_json::json;

/// Gather facts.
#[tool]
fn gather() -> String {
    "facts".to_owned()
}

/// Write the report.
#[tool]
fn write_report() -> String {
    "written".to_owned()
}

#[before_model]
fn gather_first(request: &mut ModelRequest<'_>) {
    let (history, mut tools) = request.parts();
    let gathered = history
        .iter()
        .flat_map(Message::calls)
        .any(|exchange| exchange.call.name == "gather" && exchange.outcome.observed().is_some());
    if gathered {
        tools.remove::<gather>();
    } else {
        tools.remove::<write_report>();
    }
}

#[tokio::test]
async fn m4_the_roster_follows_the_phase() {
    let model = ScriptedModel::new([
        Reply::call("gather", json!({})),
        Reply::call("write_report", json!({})),
        Reply::text("done"),
    ]);
    let agent = Agent::builder("reporter")
        .model(model.clone())
        .tools(tools![gather, write_report])
        .hooks(hooks![gather_first])
        .build()
        .unwrap();
    agent.invoke("Report.").await.unwrap();
    let rosters: Vec<_> = model.requests().into_iter().map(|request| request.tools).collect();
    assert_eq!(rosters, [["gather"], ["write_report"], ["write_report"]]);
}
