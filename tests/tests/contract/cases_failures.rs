//! A hook's failure is seen, and costs nothing twice.

use std::error::Error as StdError;
use std::time::Duration;

use protolink::durable::{MemoryStore, RunStore};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentBuilder, BoxFuture, HookPanicked, HookTimedOut, Stage, ToolOutcome};
use protolink_tests::{Boom, Counter, Path, agent, drain, effect, said, search_tool, sent};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

fn one_call(tool: &str) -> ScriptedModel {
    ScriptedModel::new([Reply::call(tool, json!({})), Reply::text("done")])
}

#[tokio::test]
async fn d9_r19_a_mended_hook_goes_on_from_the_receipt() -> Tested {
    let (effects, store, model) = (Counter::new(), MemoryStore::new(), one_call("eff"));
    let builder = || agent(&model).dyn_tool(effect("eff", &effects)).durable(store.clone());
    let broken = builder()
        .after_tool("shapes", |_: &mut ToolObservation<'_>| Err::<(), _>(Boom("after")))
        .before_complete("extra", |_: &mut FinalResponse<'_>| ())
        .build()?;
    broken.run("go").run_id("r").await.expect_err("the hook fails");
    let mended = builder()
        .after_tool("shapes", |observation: &mut ToolObservation<'_>| *observation.result_mut() = json!("shaped"))
        .build()?;
    let Err(Error::ContractChanged { changes, .. }) = mended.resume("r").await else { panic!("a hook is missing") };
    let outcome = mended.resume("r").accept(changes).await?;
    assert_eq!((outcome.answer().map(Answer::text), effects.get()), (Some("done"), 1));
    assert!(sent(&model.requests()[1])[1].ends_with("= shaped"));
    Ok(())
}

/// Fails at `stage`, at once or after a while.
fn failing(builder: AgentBuilder, stage: Stage, later: bool) -> AgentBuilder {
    fn fail(later: bool, stage: Stage) -> BoxFuture<'static, Result<(), Boom>> {
        Box::pin(async move {
            if later {
                tokio::task::yield_now().await;
            }
            Err(Boom(stage.as_str()))
        })
    }
    match (stage, later) {
        (Stage::BeforeModel, false) => {
            builder.before_model("f", |_: &mut ModelRequest<'_>| Err::<(), _>(Boom("before_model")))
        }
        (Stage::AfterTool, false) => {
            builder.after_tool("f", |_: &mut ToolObservation<'_>| Err::<(), _>(Boom("after_tool")))
        }
        (Stage::BeforeComplete, false) => {
            builder.before_complete("f", |_: &mut FinalResponse<'_>| Err::<(), _>(Boom("before_complete")))
        }
        (Stage::BeforeModel, true) => {
            builder.before_model("f", |_: &mut ModelRequest<'_>| fail(true, Stage::BeforeModel))
        }
        (Stage::AfterTool, true) => builder.after_tool("f", |_: &mut ToolObservation<'_>| fail(true, Stage::AfterTool)),
        (Stage::BeforeComplete, true) => {
            builder.before_complete("f", |_: &mut FinalResponse<'_>| fail(true, Stage::BeforeComplete))
        }
    }
}

#[tokio::test]
async fn s5_r20_a_failure_of_any_stage_ends_the_run_however_it_is_made_driven_and_kept() -> Tested {
    for (stage, requests) in [(Stage::BeforeModel, 0), (Stage::AfterTool, 1), (Stage::BeforeComplete, 2)] {
        for path in Path::ALL {
            for (later, durable) in [(false, false), (false, true), (true, false), (true, true)] {
                let model = one_call("search");
                let builder = failing(agent(&model).dyn_tool(search_tool()), stage, later);
                let builder = if durable { builder.durable(MemoryStore::new()) } else { builder };
                let ended = path.run(&builder.build()?, "go").await;
                let Err(Error::Hook { stage: at, source, .. }) = ended.result else {
                    panic!("{stage} {path:?} {later} {durable}: {:?}", ended.result)
                };
                assert_eq!((at, source.downcast_ref()), (stage, Some(&Boom(stage.as_str()))));
                assert_eq!(model.request_count(), requests, "{stage} {path:?} {later} {durable}");
            }
        }
    }
    Ok(())
}

#[after_tool(timeout = "10ms")]
async fn never_returns(_: &mut ToolObservation<'_>) {
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn s9_r21_a_hook_past_its_deadline_leaves_the_receipt_whole() -> Tested {
    let (effects, store) = (Counter::new(), MemoryStore::new());
    let agent = agent(&one_call("eff"))
        .dyn_tool(effect("eff", &effects))
        .hooks(hooks![never_returns])
        .durable(store.clone())
        .build()?;
    let mut conversation = agent.conversation();
    let result = conversation.run("go").run_id("r").await;
    let Err(Error::Hook { stage: Stage::AfterTool, hook, source, .. }) = result else { panic!("{result:?}") };
    assert_eq!(hook, "never_returns");
    assert_eq!(source.downcast_ref::<HookTimedOut>().map(|late| late.after), Some(Duration::from_millis(10)));
    let rows = store.load(&"r".into()).await?.rows;
    assert!(rows.iter().any(|row| row.payload.contains("receipted") && row.payload.contains(r#""count":1"#)));
    assert!(matches!(conversation.messages()[1].calls()[0].outcome, ToolOutcome::Withheld { .. }));
    assert_eq!(effects.get(), 1);
    Ok(())
}

struct Payload;

#[tokio::test]
async fn s5_r22_a_panic_with_any_payload_is_a_typed_error_and_the_agent_runs_again() -> Tested {
    let payloads: [(fn(), &str); 3] = [
        (|| std::panic::panic_any("a str"), "a str"),
        (|| std::panic::panic_any(String::from("a String")), "a String"),
        (|| std::panic::panic_any(Payload), "a value that is no text"),
    ];
    for (stage, requests) in [(Stage::BeforeModel, 0), (Stage::AfterTool, 1), (Stage::BeforeComplete, 2)] {
        for (panics, message) in payloads {
            let model = ScriptedModel::from_fn(|request| {
                let called = request.messages.iter().any(|message| !message.calls().is_empty());
                if called { Reply::text("done") } else { Reply::call("search", json!({})) }
            });
            let first = Counter::new();
            let once = move || {
                if first.next() == 1 {
                    panics();
                }
            };
            let builder = agent(&model).dyn_tool(search_tool());
            let agent = match stage {
                Stage::BeforeModel => builder.before_model("p", move |_: &mut ModelRequest<'_>| once()),
                Stage::AfterTool => builder.after_tool("p", move |_: &mut ToolObservation<'_>| once()),
                Stage::BeforeComplete => builder.before_complete("p", move |_: &mut FinalResponse<'_>| once()),
            }
            .build()?;
            let Err(Error::Hook { stage: at, source, .. }) = agent.invoke("go").await else { panic!("it panics") };
            let text = source.downcast_ref::<HookPanicked>().map(|panicked| panicked.message.as_str());
            assert_eq!((at, text, model.request_count()), (stage, Some(message), requests));
            assert_eq!(agent.invoke("again").await?.text(), "done");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "current_thread")]
async fn s11_r24_a_hook_runs_another_agent_on_a_runtime_of_one_thread() -> Tested {
    let inner = agent(&ScriptedModel::from_fn(|_| Reply::chunks(["in", "ner"]))).build()?;
    let model = one_call("search");
    let outer = agent(&model)
        .dyn_tool(search_tool())
        .before_model("asks", move |_: &mut ModelRequest<'_>| -> BoxFuture<'static, Result<(), Error>> {
            let inner = inner.clone();
            Box::pin(async move {
                // Driven in each way that does not block the thread.
                inner.invoke("sub").await?;
                let _ = inner.run("sub").start().result().await?;
                drain(inner.run("sub").stream()).await.result.map(drop)
            })
        })
        .build()?;
    let ended = tokio::time::timeout(Duration::from_secs(10), drain(outer.run("go").stream())).await?;
    let answer = ended.result?;
    assert_eq!((answer.text(), answer.steps()), ("done", 2));
    let steps = ended.events.iter().filter(|event| matches!(event, RunEvent::StepStarted { .. })).count();
    assert_eq!(steps, 2, "the inner steps are not the outer run's");
    assert!(!serde_json::to_string(&ended.events)?.contains("inner"));
    Ok(())
}

#[tokio::test]
async fn s11_r24_blocking_inside_a_hook_is_refused_and_never_a_deadlock() -> Tested {
    let inner = agent(&ScriptedModel::from_fn(|_| Reply::text("inner"))).build()?;
    let outer = agent(&one_call("search"))
        .dyn_tool(search_tool())
        .before_model("blocks", move |_: &mut ModelRequest<'_>| inner.blocking().invoke("sub").map(drop))
        .build()?;
    let Err(Error::Hook { source, .. }) = outer.invoke("go").await else { panic!("it would block the runtime") };
    assert!(matches!(source.downcast_ref(), Some(Error::BlockingInRuntime)));
    Ok(())
}

#[tokio::test]
async fn p6_r57_a_failed_hook_leaves_call_and_outcome_paired_in_what_is_sent_next() -> Tested {
    let (effects, model) = (Counter::new(), one_call("eff"));
    let agent = agent(&model)
        .dyn_tool(effect("eff", &effects))
        .after_tool(
            "fails",
            |observation: &mut ToolObservation<'_>| {
                if observation.context().get("fail").is_some() { Err(Boom("after")) } else { Ok(()) }
            },
        )
        .build()?;
    let mut conversation = agent.conversation();
    conversation.run("go").context("fail", true).await.expect_err("the hook fails");
    conversation.invoke("and now?").await?;
    let next = sent(&model.requests()[1]);
    assert_eq!(next[0], "user: go");
    assert_eq!(next[1], "assistant: eff({}) = The call was carried out; its result is withheld.");
    assert_eq!(next[2..], ["user: and now?"]);
    assert_eq!((said(conversation.messages()).len(), effects.get()), (4, 1));
    Ok(())
}
