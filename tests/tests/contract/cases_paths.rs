//! Order, and every path once.

use std::error::Error as StdError;
use std::time::Duration;

use protolink::durable::{MemoryStore, RunStore};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{BoxFuture, ContractChange, PartKind};
use protolink_tests::{Boom, Counter, Log, Path, agent, agent_once, drain, said, search_tool, value_tool};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

/// Say it again.
#[tool]
fn search(words: String) -> String {
    words
}

fn one_call() -> ScriptedModel {
    ScriptedModel::new([Reply::call("search", json!({ "words": "hello" })), Reply::text("done")])
}

/// Writes a line, at once or after the others had their chance.
fn write(log: &Log, line: String, later: bool) -> BoxFuture<'static, ()> {
    let log = log.clone();
    Box::pin(async move {
        if later {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        log.add(line);
    })
}

#[tokio::test]
async fn s2_r26_three_hooks_a_stage_run_in_order_sync_and_async_mixed() -> Tested {
    for path in Path::ALL {
        let log = Log::new();
        let mut builder = agent_once(&one_call()).tools(tools![search]);
        for number in 1..=3 {
            let is_async = number == 2;
            let (one, two, three) = (log.clone(), log.clone(), log.clone());
            builder = if is_async {
                builder
                    .before_model("h", move |_: &mut ModelRequest<'_>| write(&one, format!("model {number}"), true))
                    .after_tool("h", move |_: &mut ToolObservation<'_>| write(&two, format!("tool {number}"), true))
                    .before_complete("h", move |_: &mut FinalResponse<'_>| write(&three, format!("end {number}"), true))
            } else {
                builder
                    .before_model("h", move |_: &mut ModelRequest<'_>| one.add(format!("model {number}")))
                    .after_tool("h", move |_: &mut ToolObservation<'_>| two.add(format!("tool {number}")))
                    .before_complete("h", move |_: &mut FinalResponse<'_>| three.add(format!("end {number}")))
            };
        }
        path.run(&builder.build()?, "go").await.result?;
        let expected: Vec<String> = ["model", "tool", "model", "end"]
            .into_iter()
            .flat_map(|stage| (1..=3).map(move |number| format!("{stage} {number}")))
            .collect();
        assert_eq!(log.lines(), expected, "{path:?}");
    }
    Ok(())
}

async fn slow_rewrite(observation: &mut ToolObservation<'_>) {
    tokio::time::sleep(Duration::from_millis(5)).await;
    *observation.result_mut() = json!("rewritten");
}

#[tokio::test]
async fn s2_r27_the_second_hook_sees_what_the_first_took_its_time_for() -> Tested {
    let log = Log::new();
    let seen = log.clone();
    let agent = agent_once(&one_call())
        .tools(tools![search])
        .after_tool("slow", slow_rewrite)
        .after_tool("quick", move |observation: &mut ToolObservation<'_>| seen.add(observation.result().to_string()))
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(log.lines(), [r#""rewritten""#]);
    Ok(())
}

#[tokio::test]
async fn s8_r29_every_path_runs_the_same_hooks() -> Tested {
    let mut logs = Vec::new();
    for path in Path::ALL {
        for (typed, durable) in [(false, false), (false, true), (true, false), (true, true)] {
            let log = Log::new();
            let (one, two, three) = (log.clone(), log.clone(), log.clone());
            let builder = agent_once(&one_call());
            let builder = if typed {
                builder.tools(tools![search])
            } else {
                builder.dyn_tool(value_tool("search", json!("hello")))
            };
            let builder = if durable { builder.durable(MemoryStore::new()) } else { builder };
            let agent = builder
                .before_model("b", move |request: &mut ModelRequest<'_>| {
                    one.add(format!("model {} {}", request.step(), request.history().len()));
                })
                .after_tool("a", move |observation: &mut ToolObservation<'_>| {
                    two.add(format!("tool {} {}", observation.tool(), observation.result()));
                })
                .before_complete("c", move |response: &mut FinalResponse<'_>| {
                    three.add(format!("end {} {:?} {}", response.step(), response.text(), response.receipts().len()));
                })
                .build()?;
            let answer = path.run(&agent, "go").await.result?;
            assert_eq!((answer.text(), answer.steps()), ("done", 2));
            logs.push(log.lines());
        }
    }
    assert_eq!(logs[0], ["model 1 1", r#"tool search "hello""#, "model 2 2", r#"end 2 Some("done") 1"#]);
    assert!(logs.iter().all(|log| *log == logs[0]), "{logs:?}");
    Ok(())
}

#[tokio::test]
async fn f8_r30_a_step_limit_is_an_error_and_no_answer() -> Tested {
    for path in Path::ALL {
        let rounds = Counter::new();
        let checked = rounds.clone();
        let model = ScriptedModel::from_fn(|_| Reply::call("search", json!({})).saying("almost there"));
        let agent = agent(&model)
            .dyn_tool(search_tool())
            .budget(Budget::new().max_steps(3))
            .before_complete("counts", move |_: &mut FinalResponse<'_>| checked.up())
            .build()?;
        let ended = path.run(&agent, "go").await;
        assert!(matches!(ended.result, Err(Error::Budget { .. })), "{path:?}");
        assert_eq!((rounds.get(), model.request_count()), (0, 3));
    }
    Ok(())
}

#[tokio::test]
async fn f8_r31_a_run_of_three_steps_checks_its_answer_once() -> Tested {
    for path in Path::ALL {
        let rounds = Counter::new();
        let checked = rounds.clone();
        let model = ScriptedModel::new([
            Reply::call("search", json!({})).saying("first"),
            Reply::call("search", json!({})).saying("second"),
            Reply::text("done"),
        ]);
        let agent = agent_once(&model)
            .dyn_tool(search_tool())
            .before_complete("counts", move |_: &mut FinalResponse<'_>| checked.up())
            .build()?;
        assert_eq!(path.run(&agent, "go").await.result?.steps(), 3);
        assert_eq!(rounds.get(), 1, "{path:?}");
    }
    Ok(())
}

#[tokio::test]
async fn f3_r32_a_replaced_answer_is_the_same_everywhere() -> Tested {
    let store = MemoryStore::new();
    let agent = agent(&ScriptedModel::new([Reply::chunks(["ra", "w"])]))
        .before_complete("replaces", |response: &mut FinalResponse<'_>| {
            response.set_content(json!({ "text": "replaced", "big": u64::MAX, "none": null }))
        })
        .durable(store.clone())
        .build()?;
    let mut conversation = agent.conversation_id("c").await?;
    let ended = drain(conversation.run("go").run_id("r").stream()).await;
    let answer = ended.result?;
    let expected = json!({ "text": "replaced", "big": u64::MAX, "none": null });
    assert_eq!(answer.content(), &expected);
    assert!(matches!(ended.events.last(), Some(RunEvent::Completed(last)) if last.content() == &expected));
    assert_eq!(said(conversation.messages())[1], format!("assistant: {expected}"));
    let last = store.load(&"r".into()).await?.rows.pop().expect("there are rows");
    assert!(last.payload.contains(&serde_json::to_string(&expected)?), "{}", last.payload);
    assert_eq!(agent.resume("r").await?.answer(), Some(&answer));
    Ok(())
}

#[tokio::test]
async fn f8_r33_an_answer_is_checked_once_whatever_is_read_and_a_failure_reaches_who_awaits() -> Tested {
    for fails in [false, true] {
        for read in [0, 3, usize::MAX] {
            let rounds = Counter::new();
            let checked = rounds.clone();
            let model = ScriptedModel::new([Reply::call("search", json!({})), Reply::chunks(["do", "ne"])]);
            let agent = agent_once(&model)
                .dyn_tool(search_tool())
                .before_complete("checks", move |_: &mut FinalResponse<'_>| {
                    checked.up();
                    if fails { Err(Boom("check")) } else { Ok(()) }
                })
                .build()?;
            let run = agent.run("go").start();
            let mut events = run.events();
            for _ in 0..read {
                if events.next().await.is_none() {
                    break;
                }
            }
            drop(events);
            let result = run.result().await;
            assert_eq!(rounds.get(), 1, "{read} events were read");
            match result {
                Ok(outcome) => assert_eq!((outcome.answer().map(Answer::text), fails), (Some("done"), false)),
                Err(Error::Hook { source, .. }) => {
                    assert_eq!((source.downcast_ref(), fails), (Some(&Boom("check")), true));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn f1_r34_a_stream_ends_once_when_the_check_fails() -> Tested {
    for conversation in [false, true] {
        let agent = agent(&ScriptedModel::new([Reply::chunks(["do", "ne"])]))
            .before_complete("refuses", |_: &mut FinalResponse<'_>| Err::<(), _>(Boom("check")))
            .build()?;
        let mut talk = agent.conversation();
        let mut stream = if conversation { talk.run("go").stream() } else { agent.run("go").stream() };
        let (mut ends, mut last_was_error) = (0, false);
        while let Some(item) = stream.next().await {
            assert_eq!(ends, 0, "nothing comes after the end: {item:?}");
            last_was_error = item.is_err();
            let is_end = matches!(
                item,
                Err(_) | Ok(RunEvent::Completed(_) | RunEvent::Interrupted(_) | RunEvent::Failed { .. })
            );
            ends += usize::from(is_end);
        }
        assert!(stream.next().await.is_none());
        assert_eq!((ends, last_was_error), (1, true));
    }
    Ok(())
}

#[tokio::test]
async fn d6_r35_a_clone_is_the_same_agent() -> Tested {
    let log = Log::new();
    let seen = log.clone();
    let agent = agent_once(&ScriptedModel::from_fn(|_| Reply::text("done")))
        .before_complete("sees", move |_: &mut FinalResponse<'_>| seen.add("checked"))
        .build()?;
    let clone = agent.clone();
    assert_eq!((agent.fingerprint(), agent.config()), (clone.fingerprint(), clone.config()));
    agent.invoke("go").await?;
    drop(agent);
    clone.invoke("go").await?;
    assert_eq!(log.lines(), ["checked", "checked"]);
    Ok(())
}

#[before_model]
fn one(_: &mut ModelRequest<'_>) {}

#[before_model]
fn two(_: &mut ModelRequest<'_>) {}

#[test]
fn d5_r36_two_hooks_that_were_swapped_are_told_to_have_moved() -> Tested {
    let model = ScriptedModel::new([]);
    let before = agent(&model).hooks(hooks![one, two]).build()?;
    let after = agent(&model).hooks(hooks![two, one]).build()?;
    assert_ne!(before.fingerprint(), after.fingerprint());
    let changes = before.fingerprint().diff(after.fingerprint());
    assert!(!changes.is_empty());
    for change in &changes {
        assert!(matches!(change, ContractChange::Moved { kind: PartKind::BeforeModel, .. }), "{change:?}");
        assert!(change.to_string().contains("moved"), "{change}");
    }
    // Closures have no source, and a name that stands at another place all the same.
    let closures = |first: &'static str, second: &'static str| {
        agent(&model)
            .before_complete(first, |_: &mut FinalResponse<'_>| ())
            .before_complete(second, |_: &mut FinalResponse<'_>| ())
            .build()
    };
    let changes = closures("a", "b")?.fingerprint().diff(closures("b", "a")?.fingerprint());
    assert!(changes.iter().all(|change| change.to_string().contains("moved")) && !changes.is_empty(), "{changes:?}");
    Ok(())
}
