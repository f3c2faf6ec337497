//! F4, F5, P6, M10: what the model and those who watch are told at the edges of the loop.

use std::error::Error as StdError;
use std::time::Duration;

use futures_util::StreamExt as _;
use protolink::durable::MemoryStore;
use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentHooks, DynTool, OnError, RunEvent, ToolError};
use protolink_tests::{Log, agent, agent_once, said, sent, value_tool};
use serde_json::{Value, json};

type Tested = Result<(), Box<dyn StdError>>;

#[tokio::test]
async fn f5_an_answer_that_went_back_stands_where_it_was_given() -> Tested {
    let model = ScriptedModel::new([
        Reply::text("first try"),
        Reply::text("second try"),
        Reply::call("look", json!({})),
        Reply::text("done"),
    ]);
    let agent = agent(&model)
        .dyn_tool(value_tool("look", json!(1)))
        .max_revisions(5)
        .before_complete("looks_first", |response: &mut FinalResponse<'_>| {
            if response.text() != Some("done") {
                response.ask_revision("look first");
            }
        })
        .build()?;
    agent.invoke("go").await?;
    let expected = [
        "user: go",
        "assistant: first try",
        "user: look first",
        "assistant: second try",
        "user: look first",
        "assistant: look({}) = 1",
    ];
    assert_eq!(sent(&model.requests()[3]), expected);
    Ok(())
}

#[tokio::test]
async fn f4_nothing_is_taken_back_that_nobody_was_shown() -> Tested {
    for captured in [false, true] {
        let model = ScriptedModel::new([
            Reply::chunks(["let me ", "look"]).then(Reply::call("look", json!({}))),
            Reply::chunks(["do", "ne"]),
        ]);
        let log = Log::new();
        let seen = log.clone();
        let agent = agent(&model)
            .dyn_tool(value_tool("look", json!(1)))
            .capture_content(captured)
            .observer(move |event: &RunEvent| match event {
                RunEvent::TextDelta { .. } | RunEvent::Retracted { .. } => seen.add(format!("{event:?}")),
                _ => {}
            })
            .build()?;
        // Nobody listens: text is not shown as it comes, and there is none to take back.
        agent.invoke("go").await?;
        assert_eq!(log.lines(), [""; 0]);
    }
    Ok(())
}

#[tokio::test]
async fn p6_a_result_is_withheld_only_where_a_hook_would_have_shaped_it() -> Tested {
    /// Look at it.
    #[tool]
    fn look() -> String {
        "seen".to_owned()
    }
    #[after_tool(tool = look)]
    fn shout(observation: &mut ToolObservation<'_, String>) {
        observation.result_mut().make_ascii_uppercase();
    }
    let fails = DynTool::new("fails", "Fails.", json!({ "type": "object" }), |_, _| async {
        Err::<Value, _>(ToolError::failed("no"))
    });
    let model = ScriptedModel::new([Reply::calls([
        Reply::call("look", json!({})),
        Reply::call("plain", json!({})),
        Reply::call("fails", json!({})),
    ])]);
    let agent = agent(&model)
        .tools(tools![look])
        .dyn_tool(value_tool("plain", json!("as it is")))
        .dyn_tool(fails)
        .max_parallel_tools(1)
        .hooks(hooks![shout])
        .build()?;
    let mut conversation = agent.conversation();
    let failed = conversation.invoke("go").await.expect_err("a tool fails");
    assert!(matches!(failed, Error::Tool { .. }), "{failed:?}");
    let turn = &conversation.messages()[1];
    let told: Vec<String> = turn.calls().iter().map(|exchange| exchange.outcome.to_model_text()).collect();
    assert!(!told[0].contains("seen"), "its hook has not run: {told:?}");
    assert_eq!(told[1], "as it is", "no hook is for it");
    assert!(turn.calls()[2].outcome.is_error(), "{told:?}");
    Ok(())
}

#[tokio::test]
async fn t7_a_tool_that_takes_too_long_is_told_to_the_model_where_it_reports() -> Tested {
    let slow = |on_error| {
        DynTool::new("slow", "Waits.", json!({ "type": "object" }), |_, _| async {
            tokio::time::sleep(Duration::from_mins(1)).await;
            Ok::<_, ToolError>(Value::Null)
        })
        .on_error(on_error)
    };
    let script = || ScriptedModel::new([Reply::call("slow", json!({})), Reply::text("done")]);
    let with = |model: &ScriptedModel, on_error| {
        agent_once(model).dyn_tool(slow(on_error)).tool_timeout(Duration::from_millis(5)).build()
    };
    let model = script();
    let answer = with(&model, OnError::Report)?.invoke("go").await?;
    assert_eq!(answer.text(), "done");
    let told = model.requests()[1].messages[1].calls()[0].outcome.clone();
    assert!(told.is_error() && told.to_model_text().contains("did not return"), "{told:?}");
    let model = script();
    let failed = with(&model, OnError::Fail)?.invoke("go").await.expect_err("nobody knows what became of it");
    assert!(matches!(&failed, Error::Tool { tool, .. } if tool == "slow"), "{failed:?}");
    assert_eq!(model.request_count(), 1);
    Ok(())
}

#[tokio::test]
async fn m8_a_prompt_names_the_tools_that_are_left() -> Tested {
    let model = ScriptedModel::new([Reply::text("done")]).without_native_tools();
    let agent = agent(&model)
        .dyn_tool(value_tool("look", json!(1)))
        .dyn_tool(value_tool("pay", json!(1)))
        .before_model("takes", |request: &mut ModelRequest<'_>| {
            request.tools().remove_named("pay");
        })
        .build()?;
    agent.invoke("go").await?;
    let system = &model.requests()[0].system;
    assert!(system.contains("- look:") && !system.contains("- pay:"), "{system}");
    Ok(())
}

#[tokio::test]
async fn s7_a_failed_run_of_memory_keeps_what_was_said_before() -> Tested {
    let model = ScriptedModel::new([Reply::text("one done"), Reply::permanent("no"), Reply::text("three done")]);
    let agent = agent(&model).durable(MemoryStore::new()).build()?;
    let mut conversation = agent.conversation_id("c").await?;
    conversation.invoke("one").await?;
    assert!(conversation.invoke("two").await.is_err());
    conversation.invoke("three").await?;
    let expected = ["user: one", "assistant: one done", "user: two", "user: three", "assistant: three done"];
    assert_eq!(said(conversation.messages()), expected);
    Ok(())
}

/// A model whose provider signs each reply.
struct Signing;

#[protolink::async_trait]
impl Model for Signing {
    fn id(&self) -> ModelId {
        ModelId::new("test", "signing")
    }

    async fn respond(&self, _: &PreparedRequest<'_>, _: &mut ChunkSink<'_>) -> Result<ModelReply, ModelError> {
        Ok(ModelReply::text("done").with_provider(json!("signature")))
    }
}

#[tokio::test]
async fn f3_what_a_provider_signed_stays_with_the_text_that_it_signed() -> Tested {
    for (text, signature) in [("done", Some(json!("signature"))), ("redacted", None)] {
        let agent = Agent::builder("a")
            .model(Signing)
            .before_complete("redacts", move |response: &mut FinalResponse<'_>| response.set_text(text))
            .build()?;
        let mut conversation = agent.conversation();
        conversation.invoke("go").await?;
        let Message::Assistant(turn) = &*conversation.messages()[1] else { panic!("it answers") };
        assert_eq!((turn.text(), &turn.provider), (Some(text), &signature));
    }
    Ok(())
}

#[tokio::test]
async fn p3_the_events_of_a_started_run_are_a_stream_like_any_other() -> Tested {
    let handle = agent(&ScriptedModel::new([Reply::text("done")])).build()?.run("go").run_id("r").start();
    let events: Vec<RunEvent> = handle.events().collect().await;
    assert!(matches!(events.first(), Some(RunEvent::Started { .. })), "{events:?}");
    assert!(matches!(events.last(), Some(RunEvent::Completed(_))), "{events:?}");
    // It has one reader.
    assert_eq!(handle.events().count().await, 0);
    let _ = handle.result().await?;
    Ok(())
}

#[tokio::test]
async fn s7_a_started_run_that_panicked_says_with_what() -> Tested {
    /// A clock that is broken.
    #[derive(Debug)]
    struct Broken;
    impl protolink::durable::Clock for Broken {
        fn now(&self) -> protolink::durable::Timestamp {
            panic!("the clock stands still")
        }
    }
    let store = MemoryStore::new().with_clock(Broken);
    let agent = agent(&ScriptedModel::new([Reply::text("done")])).durable(store).build()?;
    let panicked = agent.run("go").run_id("r").start().result().await.expect_err("the store panics");
    let Error::RunPanicked { run_id, message } = panicked else { panic!("{panicked:?}") };
    assert_eq!((run_id.as_str(), message.as_str()), ("r", "the clock stands still"));
    Ok(())
}

#[test]
fn s7_a_started_run_whose_runtime_is_gone_was_cancelled() -> Tested {
    let agent = agent(&ScriptedModel::new([Reply::hang()])).build()?;
    let runtime = tokio::runtime::Runtime::new()?;
    let handle = runtime.block_on(async { agent.run("go").run_id("r").start() });
    drop(runtime);
    let gone = tokio::runtime::Runtime::new()?.block_on(handle.result()).expect_err("nothing runs it any more");
    assert!(matches!(&gone, Error::Cancelled { run_id, .. } if *run_id == *"r"), "{gone:?}");
    Ok(())
}

#[tokio::test]
async fn what_a_stream_prints_for_debugging_is_whether_it_has_ended() -> Tested {
    let agent = agent(&ScriptedModel::new([Reply::text("done")])).build()?;
    let mut stream = agent.run("s3cret").stream();
    assert_eq!(format!("{stream:?}"), "RunStream { ended: false, .. }");
    while let Some(event) = stream.next().await {
        event?;
    }
    assert_eq!(format!("{stream:?}"), "RunStream { ended: true, .. }");
    let resume = agent.resume("r-7");
    assert!(format!("{resume:?}").contains("r-7"), "{resume:?}");
    Ok(())
}

#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Price {
    cents: u64,
}

#[hook_module]
mod pricing {
    use protolink::prelude::*;

    use super::Price;

    #[before_model]
    pub(super) fn asks(request: &mut ModelRequest<'_>) {
        request.this_step().push(Message::user("in cents"));
    }

    #[before_complete]
    pub(super) async fn rounds(response: &mut FinalResponse<'_, Price>) {
        tokio::task::yield_now().await;
        response.answer_mut().cents += 1;
    }
}

#[tokio::test]
async fn s2_a_module_of_hooks_goes_into_a_group_and_its_async_hooks_see_the_answers_type() -> Tested {
    let model = ScriptedModel::new([Reply::text(r#"{"cents": 4}"#)]);
    let group = AgentHooks::new().hooks(pricing::hooks);
    let agent = Agent::builder("a").model(model.clone()).answer::<Price>().group(group).build()?;
    assert_eq!(agent.invoke("how much?").await?.cents, 5);
    assert_eq!(sent(&model.requests()[0]), ["user: how much?", "user: in cents"]);
    Ok(())
}
