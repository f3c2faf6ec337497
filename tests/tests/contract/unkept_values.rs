//! Values that JSON would lose, from tools made at run time and from hooks on JSON (contract T7).

use protolink::durable::MemoryStore;
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{DynTool, ToolError, ValueError};
use protolink_tests::{Counter, agent, effect};
use serde_json::json;

fn not_a_number(counter: &Counter) -> DynTool {
    let counter = counter.clone();
    DynTool::new("measure", "Measures.", json!({ "type": "object" }), move |_, _| {
        counter.up();
        async { Ok::<_, ToolError>(f64::NAN) }
    })
}

#[tokio::test]
async fn t7_dynamic_tool_that_gives_nan_is_done_and_reconciled() {
    let counter = Counter::default();
    let model = ScriptedModel::new([Reply::call("measure", json!({})), Reply::text("done")]);
    let agent = agent(&model).dyn_tool(not_a_number(&counter)).durable(MemoryStore::new()).build().expect("it builds");
    let error = agent.run("go").run_id("r").await.expect_err("NaN is not kept");
    let Error::ToolValue { action_id, source, .. } = error else { panic!("another error: {error}") };
    assert_eq!(source, ValueError::NotFinite);
    let failed = agent.reconcile_failed("r", action_id.clone(), ToolError::failed("it did not")).await;
    assert!(matches!(failed, Err(Error::NotResumable { .. })), "its effect has happened: {failed:?}");
    agent.reconcile("r", action_id, 36.6).await.expect("the effect is on record as done");
    let outcome = agent.resume("r").await.expect("the run goes on");
    assert_eq!(outcome.answer().map(Answer::text), Some("done"));
    assert_eq!(counter.get(), 1);
}

#[tokio::test]
async fn t7_hook_that_sets_nan_is_named() {
    let counter = Counter::default();
    let model = ScriptedModel::new([Reply::call("eff", json!({})), Reply::text("done")]);
    let agent = agent(&model)
        .dyn_tool(effect("eff", &counter))
        .after_tool("averages", |observation: &mut ToolObservation<'_>| observation.set_result([1.0, f64::NAN]))
        .build()
        .expect("it builds");
    let error = agent.invoke("go").await.expect_err("NaN is not kept");
    let Error::HookValue { hook, source, .. } = error else { panic!("another error: {error}") };
    assert_eq!((hook.as_str(), source), ("averages", ValueError::NotFinite));
    assert_eq!(model.request_count(), 1, "the model is told nothing");
}

#[tokio::test]
async fn t7_hook_that_sets_a_value_is_seen_by_the_model() {
    let counter = Counter::default();
    let model = ScriptedModel::new([Reply::call("eff", json!({})), Reply::text("done")]);
    let agent = agent(&model)
        .dyn_tool(effect("eff", &counter))
        .after_tool("halves", |observation: &mut ToolObservation<'_>| observation.set_result((1_u64, u64::MAX)))
        .build()
        .expect("it builds");
    agent.invoke("go").await.expect("it answers");
    let sent = &model.requests()[1];
    let observed = sent.messages[1].calls()[0].outcome.observed().cloned();
    assert_eq!(observed, Some(json!([1, u64::MAX])));
}
