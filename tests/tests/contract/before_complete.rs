//! Section F of the contract: what a `before_complete` hook may do, and what an answer is.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use protolink::durable::{MemoryStore, RunStore};
use protolink::model::{ChunkSink, FinishReason, Model, ModelError, ModelId, ModelReply, PreparedRequest};
use protolink::prelude::*;
use protolink::testing::{Reply, ResponseFixture, ScriptedModel};
use protolink::{BoxFuture, CancellationToken, Receipt, Stage, ToolCall};
use protolink_tests::{
    Boom, Counter, Log, Path, agent, agent_once, drain, effect, said, search_tool, sent, value_tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Verdict {
    good: bool,
    score: u8,
}

/// Counts the rounds, and lets every answer pass.
fn count(rounds: &Counter) -> impl Fn(&mut FinalResponse<'_>) + Send + Sync + 'static {
    let rounds = rounds.clone();
    move |_: &mut FinalResponse<'_>| rounds.up()
}

#[tokio::test]
async fn f1_every_path_to_an_answer_passes_the_check() -> Tested {
    for path in Path::ALL {
        let (rounds, model) = (Counter::new(), ScriptedModel::new([Reply::text("done")]));
        let agent = agent_once(&model).before_complete("counts", count(&rounds)).build()?;
        path.run(&agent, "go").await.result?;
        assert_eq!(rounds.get(), 1, "{path:?}");
    }
    Ok(())
}

#[tokio::test]
async fn f1_structured_and_resumed_answers_pass_the_check() -> Tested {
    let (rounds, model) = (Counter::new(), ScriptedModel::new([Reply::text(r#"{ "good": true, "score": 7 }"#)]));
    let structured = agent_once(&model).before_complete("counts", count(&rounds)).build()?;
    assert_eq!(structured.invoke_as::<Verdict>("go").await?, Verdict { good: true, score: 7 });
    assert_eq!(rounds.get(), 1);

    let store = MemoryStore::new();
    let model = ScriptedModel::new([Reply::call("pay", json!({})), Reply::text("done")]);
    let resumed = agent_once(&model)
        .dyn_tool(effect("pay", &Counter::new()))
        .policy(CapabilityPolicy::new().require_approval("pay"))
        .before_complete("counts", count(&rounds))
        .durable(store)
        .build()?;
    let Outcome::Interrupted(waits) = resumed.run("go").await? else { panic!("it waits") };
    assert_eq!(rounds.get(), 1, "a pause is no answer");
    let _ = resumed.resume(&waits.run_id).approve(&waits).await?;
    assert_eq!(rounds.get(), 2);
    Ok(())
}

#[tokio::test]
async fn f1_the_check_comes_before_the_final_event_and_sees_the_whole_answer() -> Tested {
    let log = Log::new();
    let (hook, observer) = (log.clone(), log.clone());
    let model = ScriptedModel::new([Reply::chunks(["in ", "three ", "parts"])]);
    let agent = agent_once(&model)
        .before_complete("sees", move |response: &mut FinalResponse<'_>| {
            hook.add(format!("check {:?}", response.text()));
        })
        .observer(move |event: &RunEvent| {
            if let RunEvent::Completed(answer) = event {
                observer.add(format!("final {answer}"));
            }
        })
        .build()?;
    drain(agent.run("go").stream()).await.result?;
    assert_eq!(log.lines(), [r#"check Some("in three parts")"#, "final in three parts"]);
    Ok(())
}

#[tokio::test]
async fn f2_a_hook_can_replace_the_content_or_refuse_it() -> Tested {
    let model = ScriptedModel::from_fn(|_| Reply::text("raw"));
    let text = agent(&model)
        .before_complete("text", |response: &mut FinalResponse<'_>| response.set_text("changed"))
        .build()?;
    let value = agent(&model)
        .before_complete("value", |response: &mut FinalResponse<'_>| {
            response.set_content(Verdict { good: false, score: u8::MAX })
        })
        .build()?;
    let refused =
        agent(&model).before_complete("refuses", |_: &mut FinalResponse<'_>| Err::<(), _>(Boom("answer"))).build()?;
    for path in Path::ALL {
        assert_eq!(path.run(&text, "go").await.result?.text(), "changed");
        let answer = path.run(&value, "go").await.result?;
        assert_eq!(answer.content(), &json!({ "good": false, "score": 255 }));
        let Err(Error::Hook { stage, source, .. }) = path.run(&refused, "go").await.result else { panic!("refused") };
        assert_eq!((stage, source.downcast_ref()), (Stage::BeforeComplete, Some(&Boom("answer"))));
    }
    Ok(())
}

#[tokio::test]
async fn f3_the_changed_answer_is_kept_announced_and_given() -> Tested {
    let store = MemoryStore::new();
    let model = ScriptedModel::new([Reply::text("raw"), Reply::text("next")]);
    let agent = agent(&model)
        .before_complete("changes", |response: &mut FinalResponse<'_>| {
            if response.text() == Some("raw") {
                response.set_text("checked");
            }
        })
        .durable(store.clone())
        .build()?;
    let mut conversation = agent.conversation_id("c").await?;
    let ended = drain(conversation.run("go").run_id("r").stream()).await;
    let answer = ended.result?;
    assert_eq!(answer.text(), "checked");
    assert!(matches!(ended.events.last(), Some(RunEvent::Completed(last)) if *last == answer));
    assert_eq!(said(conversation.messages()), ["user: go", "assistant: checked"]);
    assert_eq!(said(agent.conversation_id("c").await?.messages()), ["user: go", "assistant: checked"]);
    // What is stored is what a later resume gives, without asking anybody.
    let outcome = agent.resume("r").await?;
    assert_eq!((outcome.answer().map(Answer::text), model.request_count()), (Some("checked"), 1));
    conversation.invoke("more").await?;
    assert_eq!(sent(&model.requests()[1])[1], "assistant: checked", "the model is told its checked words");
    Ok(())
}

#[tokio::test]
async fn f3_the_answer_is_committed_before_its_final_event() -> Tested {
    let (store, log) = (MemoryStore::new(), Log::new());
    let (peek, seen) = (store.clone(), log.clone());
    let agent = agent(&ScriptedModel::new([Reply::text("done")]))
        .observer(move |event: &RunEvent| {
            if let RunEvent::Completed(answer) = event {
                // The store answers at once, so that one poll is enough.
                let mut load = Box::pin(peek.load(answer.run_id()));
                let waker = std::task::Waker::noop();
                let polled = load.as_mut().poll(&mut std::task::Context::from_waker(waker));
                let std::task::Poll::Ready(Ok(stored)) = polled else { panic!("it is in memory") };
                let last = stored.rows.last().map(|row| row.payload.clone()).unwrap_or_default();
                seen.add(format!("{} {}", last.contains("completed"), last.contains("done")));
            }
        })
        .durable(store)
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(log.lines(), ["true true"]);
    Ok(())
}

#[tokio::test]
async fn f4_chunks_are_provisional_and_the_last_event_carries_the_checked_answer() -> Tested {
    let model =
        ScriptedModel::new([Reply::calls([("search", json!({}))]).saying("let me look"), Reply::chunks(["ra", "w"])]);
    let agent = agent(&model)
        .dyn_tool(search_tool())
        .before_complete("changes", |response: &mut FinalResponse<'_>| response.set_text("checked"))
        .build()?;
    let ended = drain(agent.run("go").stream()).await;
    let shown: Vec<&str> = ended
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::TextDelta { text, .. } => Some(text.as_str()),
            RunEvent::Retracted { .. } => Some("(retracted)"),
            _ => None,
        })
        .collect();
    assert_eq!(shown.concat(), "raw", "an event of its own marks them: {shown:?}");
    assert!(matches!(ended.events.last(), Some(RunEvent::Completed(answer)) if answer.text() == "checked"));
    Ok(())
}

#[tokio::test]
async fn f4_held_output_shows_the_checked_answer_only() -> Tested {
    let model = ScriptedModel::from_fn(|_| Reply::chunks(["ra", "w"]));
    let changes = agent(&model)
        .before_complete("changes", |response: &mut FinalResponse<'_>| response.set_text("checked"))
        .build()?;
    let refuses = agent(&model).before_complete("refuses", |_: &mut FinalResponse<'_>| Err::<(), _>("no")).build()?;
    for (agent, expected) in [(changes, "checked"), (refuses, "")] {
        let ended = drain(agent.run("go").hold_output(true).stream()).await;
        let shown: String = ended
            .events
            .iter()
            .filter_map(|event| match event {
                RunEvent::TextDelta { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(shown, expected);
    }
    Ok(())
}

/// A model whose reply is cut off in one of the ways in which providers say so.
struct CutOff(FinishReason);

#[async_trait::async_trait]
impl Model for CutOff {
    fn id(&self) -> ModelId {
        ModelId::new("test", "cut off")
    }

    async fn respond(&self, _: &PreparedRequest<'_>, chunks: &mut ChunkSink<'_>) -> Result<ModelReply, ModelError> {
        chunks.text("half an ans");
        let calls = vec![ToolCall::new("1", "pay", json!({}))];
        Ok(ModelReply::calls(Some("half an ans".to_owned()), calls).with_finish_reason(self.0.clone()))
    }
}

#[tokio::test]
async fn f5_a_turn_that_was_cut_off_is_no_answer_and_none_of_its_calls_runs() -> Tested {
    for path in Path::ALL {
        for reason in [FinishReason::Length, FinishReason::ContentFilter] {
            let (effects, rounds) = (Counter::new(), Counter::new());
            let agent = Agent::builder("tester")
                .model(CutOff(reason))
                .dyn_tool(effect("pay", &effects))
                .before_complete("counts", count(&rounds))
                .build()?;
            let ended = path.run(&agent, "go").await;
            assert!(matches!(ended.result, Err(Error::Truncated { step: 1, .. })), "{path:?}: {:?}", ended.result);
            assert_eq!((effects.get(), rounds.get()), (0, 0));
            assert!(!ended.events.iter().any(|event| matches!(event, RunEvent::Completed(_))));
        }
        let (rounds, model) = (Counter::new(), ScriptedModel::new([Reply::truncated()]));
        let agent = agent(&model).before_complete("counts", count(&rounds)).build()?;
        let ended = path.run(&agent, "go").await;
        assert!(matches!(ended.result, Err(Error::Truncated { .. })));
        assert_eq!((rounds.get(), model.request_count()), (0, 1), "it is not asked again in secret");
    }
    Ok(())
}

/// Everything that can be read of a failed run, as one text.
fn all_text(error: &Error) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text} {inner} {inner:?}");
        source = inner.source();
    }
    text
}

#[tokio::test]
async fn f6_a_refused_answer_is_kept_nowhere_a_reader_could_take_it_for_one() -> Tested {
    let log = Log::new();
    let observer = log.clone();
    let agent = agent(&ScriptedModel::new([Reply::text("the refused words"), Reply::text("fine")]))
        .before_complete(
            "refuses",
            |response: &mut FinalResponse<'_>| {
                if response.text() == Some("fine") { Ok(()) } else { Err(Boom("answer")) }
            },
        )
        .observer(move |event: &RunEvent| observer.add(serde_json::to_string(event).unwrap_or_default()))
        .build()?;
    let mut conversation = agent.conversation();
    let ended = drain(conversation.run("go").stream()).await;
    let error = ended.result.expect_err("it is refused");
    assert!(!all_text(&error).contains("refused words"), "{}", all_text(&error));
    assert!(!log.lines().join("\n").contains("refused words"), "{:?}", log.lines());
    let told = ended.events.iter().filter(|event| !matches!(event, RunEvent::TextDelta { .. }));
    assert!(!serde_json::to_string(&told.collect::<Vec<_>>())?.contains("refused words"));
    assert_eq!(said(conversation.messages()), ["user: go"]);
    conversation.invoke("again").await?;
    assert_eq!(said(conversation.messages()), ["user: go", "user: again", "assistant: fine"]);
    Ok(())
}

#[tokio::test]
async fn f6_an_answer_that_does_not_fit_its_type_is_not_in_the_error() -> Tested {
    for words in [r#""the refused words""#, r#"{ "good": "the refused words", "score": 1 }"#, "the refused words"] {
        let model = ScriptedModel::from_fn(move |_| Reply::text(words));
        let agent = agent(&model).max_revisions(1).build()?;
        let error = agent.invoke_as::<Verdict>("go").await.expect_err("it never fits");
        assert!(matches!(error, Error::Answer { step: 2, .. }));
        assert!(!all_text(&error).contains("refused"), "{}", all_text(&error));
    }
    Ok(())
}

fn lent<'r>(response: &FinalResponse<'r>) -> &'r [Arc<Receipt>] {
    response.receipts()
}

#[tokio::test]
async fn f7_the_check_sees_the_receipts_with_the_true_results() -> Tested {
    let model = ScriptedModel::new([
        Reply::call("reads", json!({ "page": 1 })),
        Reply::call("reads", json!({ "page": 2 })),
        Reply::text("done"),
    ]);
    let log = Log::new();
    let hook = log.clone();
    let agent = agent_once(&model)
        .dyn_tool(value_tool("reads", json!("true result")))
        .after_tool("changes", |observation: &mut ToolObservation<'_>| *observation.result_mut() = json!("shown"))
        .before_complete("sees", move |response: &mut FinalResponse<'_>| {
            for receipt in response.receipts() {
                let result = receipt.result().map(ToString::to_string).unwrap_or_default();
                hook.add(format!("{} {} {} {result}", receipt.step, receipt.tool, receipt.arguments));
            }
        })
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(log.lines(), [r#"1 reads {"page":1} "true result""#, r#"2 reads {"page":2} "true result""#]);
    // Read-only: what is lent is shared.
    let mut fixture = ResponseFixture::text("x").receipt("reads", json!(1));
    assert_eq!(fixture.with(|response| lent(response).len()), 1);
    Ok(())
}

#[tokio::test]
async fn f8_no_answer_leaves_at_a_limit_or_after_a_cancelled_tool() -> Tested {
    let (rounds, model) =
        (Counter::new(), ScriptedModel::from_fn(|_| Reply::call("search", json!({})).saying("so far")));
    let limited = agent(&model)
        .dyn_tool(search_tool())
        .budget(Budget::new().max_steps(2))
        .before_complete("counts", count(&rounds))
        .build()?;
    for path in Path::ALL {
        let ended = path.run(&limited, "go").await;
        assert!(matches!(ended.result, Err(Error::Budget { .. })), "{path:?}");
        assert!(!ended.events.iter().any(|event| matches!(event, RunEvent::Completed(_))));
    }
    assert_eq!(rounds.get(), 0);

    let token = CancellationToken::new();
    let cancel = token.clone();
    let hangs = protolink::DynTool::new("search", "", json!({ "type": "object" }), move |_, _| {
        cancel.cancel();
        std::future::pending::<Result<serde_json::Value, ToolError>>()
    });
    let cancelled = agent(&model).dyn_tool(hangs).before_complete("counts", count(&rounds)).build()?;
    let result = cancelled.run("go").cancel(token).await;
    assert!(matches!(result, Err(Error::Cancelled { .. })));
    assert_eq!(rounds.get(), 0);
    Ok(())
}

#[tokio::test]
async fn f8_there_is_one_round_for_each_proposed_answer_however_the_stream_is_read() -> Tested {
    async fn slow(response: &mut FinalResponse<'_>) {
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(response.text().is_some());
    }
    for read in [0, 2, usize::MAX] {
        let rounds = Counter::new();
        let model = ScriptedModel::new([
            Reply::call("search", json!({})),
            Reply::call("search", json!({})),
            Reply::chunks(["do", "ne"]),
        ]);
        let agent = agent_once(&model)
            .dyn_tool(search_tool())
            .before_complete("counts", count(&rounds))
            .before_complete("slow", slow)
            .build()?;
        let run = agent.run("go").start();
        let mut events = run.events();
        let mut seen = 0;
        while seen < read && events.next().await.is_some() {
            seen += 1;
        }
        let outcome = run.result().await?;
        assert_eq!((outcome.answer().map(Answer::text), rounds.get()), (Some("done"), 1), "{read} events were read");
    }
    Ok(())
}

#[tokio::test]
async fn f8_each_revision_has_a_round_of_its_own() -> Tested {
    let rounds = Counter::new();
    let model = ScriptedModel::new([Reply::text("short"), Reply::text("long enough")]);
    let agent = agent_once(&model)
        .max_revisions(1)
        .before_complete("counts", count(&rounds))
        .before_complete("asks", |response: &mut FinalResponse<'_>| {
            if response.text() == Some("short") {
                response.ask_revision("longer, please");
            }
        })
        .build()?;
    let mut conversation = agent.conversation();
    assert_eq!(conversation.invoke("go").await?.text(), "long enough");
    assert_eq!(rounds.get(), 2);
    assert_eq!(sent(&model.requests()[1]), ["user: go", "assistant: short", "user: longer, please"]);
    assert_eq!(said(conversation.messages()), ["user: go", "assistant: long enough"], "the first is not kept");
    Ok(())
}

#[tokio::test]
async fn f8_an_async_check_is_awaited_before_the_answer_leaves() -> Tested {
    let log = Log::new();
    let (hook, after) = (log.clone(), log.clone());
    let agent = agent_once(&ScriptedModel::new([Reply::text("done")]))
        .before_complete("slow", move |_: &mut FinalResponse<'_>| -> BoxFuture<'static, Result<(), Boom>> {
            let log = hook.clone();
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(3)).await;
                log.add("checked");
                Ok(())
            })
        })
        .build()?;
    agent.invoke("go").await?;
    after.add("left");
    assert_eq!(log.lines(), ["checked", "left"]);
    Ok(())
}
