//! Application code that panics where nobody looks for it: in the words of an error, and before there is a future.

use std::fmt;
use std::pin::Pin;

use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{DynTool, OnError, Outcome, RunEvent, ToolOutcome};
use protolink_tests::{agent, assert_paired};
use serde_json::{Value, json};

type Tested = Result<(), Box<dyn std::error::Error>>;

/// An error that nobody can show.
#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("no words")
    }
}

impl std::error::Error for Unspeakable {}

fn fails(on_error: OnError) -> DynTool {
    let schema = json!({ "type": "object" });
    DynTool::new("fails", "", schema, |_, _| async { Err::<Value, _>(Unspeakable) }).on_error(on_error)
}

#[tokio::test]
async fn p6_an_error_that_panics_when_it_is_shown_has_a_receipt_all_the_same() -> Tested {
    let model = ScriptedModel::new([Reply::call("fails", json!({})), Reply::text("done")]);
    let agent = agent(&model).dyn_tool(fails(OnError::Report)).build()?;
    let mut conversation = agent.conversation();
    assert_eq!(conversation.invoke("go").await?.text(), "done");
    let ToolOutcome::Failed(told) = &conversation.messages()[1].calls()[0].outcome else { panic!("it failed") };
    assert!(told.contains("panics when it is shown: no words"), "{told}");
    Ok(())
}

#[tokio::test]
async fn p6_an_error_that_panics_when_it_is_shown_fails_its_run_and_loses_nothing() -> Tested {
    let model = ScriptedModel::new([Reply::call("fails", json!({})), Reply::text("done")]);
    let agent = agent(&model).dyn_tool(fails(OnError::Fail)).build()?;
    let mut conversation = agent.conversation();
    let Err(Error::Tool { source, .. }) = conversation.invoke("go").await else { panic!("it fails") };
    assert!(source.is::<Unspeakable>());
    assert_paired(conversation.messages());
    assert_eq!(conversation.invoke("again").await?.text(), "done");
    Ok(())
}

/// A model written by hand, without `async_trait`: it panics before there is anything to wait for.
#[derive(Debug)]
struct Early;

impl Model for Early {
    fn id(&self) -> ModelId {
        ModelId::new("test", "early")
    }

    fn respond<'model, 'request, 'parts, 'chunks, 'sink, 'future>(
        &'model self,
        _: &'request PreparedRequest<'parts>,
        _: &'chunks mut ChunkSink<'sink>,
    ) -> Pin<Box<dyn Future<Output = Result<ModelReply, ModelError>> + Send + 'future>>
    where
        'model: 'future,
        'request: 'future,
        'parts: 'future,
        'chunks: 'future,
        'sink: 'future,
        Self: 'future,
    {
        panic!("too early")
    }
}

#[tokio::test]
async fn p6_a_model_that_panics_before_its_future_is_caught_too() -> Tested {
    let agent = Agent::builder("early").model(Early).build()?;
    let Err(Error::ModelPanicked { message, step: 1, .. }) = agent.invoke("go").await else { panic!("it panics") };
    assert_eq!(message, "too early");
    Ok(())
}

/// Counts to a number.
#[tool]
#[allow(clippy::needless_pass_by_value, reason = "a tool takes its arguments by value")]
fn count_to(number: u8) -> String {
    number.to_string()
}

#[tokio::test]
async fn t3_a_refused_call_tells_watchers_no_argument_unless_content_is_captured() -> Tested {
    for capture in [false, true] {
        let model =
            ScriptedModel::new([Reply::call("count_to", json!({ "number": "tell-nobody" })), Reply::text("done")]);
        let agent = agent(&model).tools(tools![count_to]).capture_content(capture).build()?;
        let run = agent.run("go").start();
        let mut events = run.events();
        let mut reasons = Vec::new();
        while let Some(event) = events.next().await {
            if let RunEvent::CallRefused { reason, .. } = event {
                reasons.push(reason);
            }
        }
        assert!(matches!(run.result().await?, Outcome::Completed(_)));
        let [reason] = &reasons[..] else { panic!("{reasons:?}") };
        assert!(reason.contains("number") && reason.contains("invalid type: string"), "{reason}");
        assert_eq!(reason.contains("tell-nobody"), capture, "{reason}");
    }
    Ok(())
}
