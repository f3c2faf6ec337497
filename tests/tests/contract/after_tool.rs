//! Section T of the contract: what an `after_tool` hook is given, and what stays on record.

use std::error::Error as StdError;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use protolink::durable::{MemoryStore, RunStore};
use protolink::prelude::*;
use protolink::rules::{Approval, ApprovalRequest};
use protolink::testing::{ObservationFixture, Reply, ScriptedModel};
use protolink::{CancellationToken, Captured, DynTool, Receipt, ReceiptOutcome, ToolCall, ToolOutcome};
use protolink_tests::{
    Boom, Counter, Log, Path, agent, agent_once, assert_paired, drain, effect, failing_tool, said, search_tool, sent,
    value_tool,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

type Tested = Result<(), Box<dyn StdError>>;

fn call_then_answer(tool: &str) -> ScriptedModel {
    ScriptedModel::new([Reply::call_with_id("c1", tool, json!({ "q": 1 })), Reply::text("done")])
}

/// Takes down the receipts that the check is shown at the end.
type Receipts = Arc<Mutex<Vec<Arc<Receipt>>>>;

fn keep_receipts(kept: &Receipts) -> impl Fn(&mut FinalResponse<'_>) + Send + Sync + 'static {
    let kept = Arc::clone(kept);
    move |response: &mut FinalResponse<'_>| {
        kept.lock().expect("no test panicked here").extend_from_slice(response.receipts());
    }
}

/// A tool that ends once `after` was given, and gives `done` then: two of them end in the wished order.
fn paced(name: &str, after: &CancellationToken, done: &CancellationToken, log: &Log) -> DynTool {
    let (own, log, after, done) = (name.to_owned(), log.clone(), after.clone(), done.clone());
    DynTool::new(name, "", json!({ "type": "object" }), move |_, _| {
        let (name, log, after, done) = (own.clone(), log.clone(), after.clone(), done.clone());
        async move {
            after.cancelled().await;
            log.add(format!("{name} ends"));
            done.cancel();
            Ok::<_, ToolError>(json!(name))
        }
    })
}

/// A sign that is given already.
fn at_once() -> CancellationToken {
    let sign = CancellationToken::new();
    sign.cancel();
    sign
}

#[tokio::test]
async fn t1_a_hook_is_given_tool_call_result_context_and_step() -> Tested {
    let log = Log::new();
    let hook = log.clone();
    let agent = agent_once(&call_then_answer("search"))
        .dyn_tool(search_tool())
        .after_tool("sees", move |observation: &mut ToolObservation<'_>| {
            let context = observation.context();
            hook.add(format!(
                "{} {} {} {} {:?}",
                observation.tool(),
                observation.call_id(),
                observation.result(),
                observation.step(),
                context.get("user")
            ));
        })
        .build()?;
    let _ = agent.run("go").context("user", "ada").await?;
    assert_eq!(log.lines(), [r#"search c1 {"q":1} 1 Some(String("ada"))"#]);
    Ok(())
}

#[tokio::test]
async fn t2_only_a_successful_authorized_call_is_observed() -> Tested {
    let (log, effects) = (Log::new(), Counter::new());
    let model = ScriptedModel::new([
        Reply::calls([
            ("nope", json!({})),
            ("denied", json!({})),
            ("rejects", json!({})),
            ("reports", json!({})),
            ("works", json!({})),
        ]),
        Reply::text("done"),
    ]);
    let seen = log.clone();
    let rejects = DynTool::new("rejects", "", json!({ "type": "object" }), |_, _| async {
        Err::<Value, _>(ToolError::rejected("not like this"))
    });
    let agent = agent_once(&model)
        .dyn_tool(effect("denied", &effects))
        .dyn_tool(rejects)
        .dyn_tool(failing_tool("reports").on_error(protolink::OnError::Report))
        .dyn_tool(value_tool("works", json!(1)))
        .policy(CapabilityPolicy::new().deny("denied"))
        .max_tool_corrections(5)
        .after_tool("sees", move |observation: &mut ToolObservation<'_>| seen.add(observation.tool()))
        .build()?;
    let mut conversation = agent.conversation();
    conversation.invoke("go").await?;
    assert_eq!((log.lines(), effects.get()), (vec!["works".to_owned()], 0));
    let outcomes: Vec<String> = conversation.messages()[1].calls().iter().map(|x| x.outcome.to_model_text()).collect();
    assert!(outcomes[0].contains("rejected") && outcomes[1].contains("denied"), "{outcomes:?}");
    assert!(outcomes[2].contains("not like this") && outcomes[3].contains("boom at tool"), "{outcomes:?}");
    assert_eq!(outcomes[4], "1");
    Ok(())
}

#[tokio::test]
async fn t2_the_receipt_is_committed_before_the_hook_runs() -> Tested {
    let store = MemoryStore::new();
    let (log, peek) = (Log::new(), store.clone());
    let hook = log.clone();
    let agent = agent_once(&call_then_answer("search"))
        .dyn_tool(search_tool())
        .after_tool("sees", move |observation: &mut ToolObservation<'_>| -> protolink::BoxFuture<'static, ()> {
            let (store, log, run_id) = (peek.clone(), hook.clone(), observation.context().run_id.clone());
            Box::pin(async move {
                let rows = store.load(&run_id).await.expect("the run is stored").rows;
                log.add(format!("{}", rows.last().is_some_and(|row| row.payload.contains("receipted"))));
            })
        })
        .durable(store)
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(log.lines(), ["true"]);
    Ok(())
}

#[tokio::test]
async fn t3_the_receipt_keeps_what_happened_and_the_model_sees_the_changed_copy() -> Tested {
    for path in [Path::Plain, Path::Streamed] {
        let (model, receipts) = (call_then_answer("reads"), Receipts::default());
        let agent = agent(&model)
            .dyn_tool(value_tool("reads", json!({ "token": "s3cret", "hits": 2 })))
            .after_tool("redacts", |observation: &mut ToolObservation<'_>| {
                observation.result_mut()["token"] = json!("[hidden]");
            })
            .before_complete("keeps", keep_receipts(&receipts))
            .build()?;
        let ended = path.run(&agent, "go").await;
        ended.result?;
        let shown = &model.requests()[1];
        assert_eq!(shown.messages[1].calls()[0].outcome.observed(), Some(&json!({ "token": "[hidden]", "hits": 2 })));
        let receipts = receipts.lock().expect("no test panicked here");
        assert_eq!(receipts[0].result(), Some(&json!({ "token": "s3cret", "hits": 2 })));
        assert_eq!((receipts[0].tool.as_str(), receipts[0].call_id.as_str(), receipts[0].step), ("reads", "c1", 1));
        // Events tell both apart by digest, and hold neither.
        let text = serde_json::to_string(&ended.events)?;
        assert!(!text.contains("s3cret") && !text.contains("[hidden]"), "{text}");
        if path == Path::Streamed {
            let digests = ended.events.iter().find_map(|event| match event {
                RunEvent::Observed {
                    result: Captured::Digest { digest: a, .. },
                    observed: Captured::Digest { digest: b, .. },
                    ..
                } => Some((*a, *b)),
                _ => None,
            });
            assert!(digests.is_some_and(|(result, observed)| result != observed));
        }
    }
    Ok(())
}

#[tokio::test]
async fn t3_contents_are_in_events_where_the_application_asked_for_them() -> Tested {
    let agent = agent(&call_then_answer("reads"))
        .dyn_tool(value_tool("reads", json!("original")))
        .after_tool("redacts", |observation: &mut ToolObservation<'_>| *observation.result_mut() = json!("changed"))
        .capture_content(true)
        .build()?;
    let ended = drain(agent.run("go").stream()).await;
    let both = ended.events.iter().find_map(|event| match event {
        RunEvent::Observed { result, observed, .. } => Some((result.content().cloned(), observed.content().cloned())),
        _ => None,
    });
    let (result, observed) = both.expect("it is observed");
    assert_eq!((result.as_deref(), observed.as_deref()), (Some(&json!("original")), Some(&json!("changed"))));
    Ok(())
}

#[tokio::test]
async fn t3_a_hook_that_only_reads_makes_no_copy() -> Tested {
    let receipts = Receipts::default();
    let model = call_then_answer("large");
    let agent = agent(&model)
        .dyn_tool(value_tool("large", json!("x".repeat(100_000))))
        .after_tool("reads", |observation: &mut ToolObservation<'_>| {
            assert_eq!(observation.result().as_str().map(str::len), Some(100_000));
        })
        .before_complete("keeps", keep_receipts(&receipts))
        .build()?;
    agent.invoke("go").await?;
    let receipts = receipts.lock().expect("no test panicked here");
    let ReceiptOutcome::Returned(kept) = &receipts[0].outcome else { panic!("it returned") };
    let requests = model.requests();
    let ToolOutcome::Observed(seen) = &requests[1].messages[1].calls()[0].outcome else { panic!("observed") };
    assert!(kept.same(seen), "the receipt and the message are one allocation");
    Ok(())
}

#[tokio::test]
async fn t6_r28_hooks_run_in_the_order_of_the_calls_whatever_ends_first() -> Tested {
    let mut transcripts = Vec::new();
    for first_is_quick in [true, false] {
        for path in [Path::Plain, Path::Streamed, Path::Conversation] {
            let (ends, hooks) = (Log::new(), Log::new());
            let seen = hooks.clone();
            let model = ScriptedModel::new([
                Reply::calls([ToolCall::new("x", "one", json!({})), ToolCall::new("y", "two", json!({}))]),
                Reply::text("done"),
            ]);
            let (quick, slow) = (CancellationToken::new(), CancellationToken::new());
            let (one, two) = if first_is_quick {
                (paced("one", &at_once(), &quick, &ends), paced("two", &quick, &slow, &ends))
            } else {
                (paced("one", &quick, &slow, &ends), paced("two", &at_once(), &quick, &ends))
            };
            let agent = agent_once(&model)
                .dyn_tool(one)
                .dyn_tool(two)
                .after_tool("sees", move |observation: &mut ToolObservation<'_>| {
                    seen.add(format!("{} {}", observation.call_id(), observation.result()));
                })
                .build()?;
            path.run(&agent, "go").await.result?;
            let expected = if first_is_quick { ["one ends", "two ends"] } else { ["two ends", "one ends"] };
            assert_eq!(ends.lines(), expected, "they run side by side");
            assert_eq!(hooks.lines(), [r#"x "one""#, r#"y "two""#]);
            let request = &model.requests()[1];
            assert_paired(&request.messages);
            transcripts.push(sent(request));
        }
    }
    assert!(transcripts.iter().all(|transcript| *transcript == transcripts[0]), "{transcripts:?}");
    Ok(())
}

#[tokio::test]
async fn t6_all_calls_are_checked_before_any_runs() -> Tested {
    // One is allowed, one denied, one needs a yes that is not there: nothing runs.
    let effects = Counter::new();
    let model = ScriptedModel::new([Reply::calls([("a", json!({})), ("b", json!({})), ("c", json!({}))])]);
    let builder = |model: &ScriptedModel| {
        agent(model)
            .dyn_tool(effect("a", &effects))
            .dyn_tool(effect("b", &effects))
            .dyn_tool(effect("c", &effects))
            .policy(CapabilityPolicy::new().deny("b").require_approval("c"))
    };
    let store = MemoryStore::new();
    let outcome = builder(&model).durable(store).build()?.run("go").await?;
    assert_eq!(outcome.interruption().and_then(Interruption::tool), Some("c"));
    assert_eq!(effects.get(), 0, "the run pauses before anything is dispatched");

    // The same with a live approver: it is asked before the allowed call runs.
    let asked = effects.clone();
    let model =
        ScriptedModel::new([Reply::calls([("a", json!({})), ("b", json!({})), ("c", json!({}))]), Reply::text("done")]);
    let agent = builder(&model)
        .approver(move |_: &ApprovalRequest| {
            assert_eq!(asked.get(), 0, "nothing ran before the decision");
            Approval::Approve
        })
        .build()?;
    let mut conversation = agent.conversation();
    conversation.invoke("go").await?;
    assert_eq!(effects.get(), 2);
    let turn = conversation.messages()[1].calls();
    assert!(turn[0].outcome.observed().is_some() && turn[2].outcome.observed().is_some());
    assert!(matches!(turn[1].outcome, ToolOutcome::Denied(_)));
    Ok(())
}

#[tokio::test]
async fn t6_after_a_failure_no_further_call_starts_and_running_ones_are_awaited() -> Tested {
    let (ends, effects, store) = (Log::new(), Counter::new(), MemoryStore::new());
    let written = ends.clone();
    let slow = DynTool::new("slow", "", json!({ "type": "object" }), move |_, _| {
        let written = written.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            written.add("slow ends");
            Ok::<_, ToolError>(json!("slow"))
        }
    });
    let model = ScriptedModel::new([Reply::calls([
        ToolCall::new("1", "fails", json!({})),
        ToolCall::new("2", "slow", json!({})),
        ToolCall::new("3", "late", json!({})),
    ])]);
    let agent = agent(&model)
        .dyn_tool(failing_tool("fails"))
        .dyn_tool(slow)
        .dyn_tool(effect("late", &effects))
        .max_parallel_tools(2)
        .durable(store.clone())
        .build()?;
    let mut conversation = agent.conversation();
    let result = conversation.run("go").run_id("r").await;
    let Err(Error::Tool { tool, call_id, source, .. }) = result else { panic!("the tool's error: {result:?}") };
    assert_eq!((tool.as_str(), call_id.as_str()), ("fails", "1"));
    assert_eq!(source.downcast_ref::<Boom>(), Some(&Boom("tool")));
    assert_eq!((ends.lines(), effects.get()), (vec!["slow ends".to_owned()], 0));
    let rows = store.load(&"r".into()).await?.rows;
    assert_eq!(rows.iter().filter(|row| row.payload.contains("receipted")).count(), 2);
    let outcomes: Vec<&ToolOutcome> = conversation.messages()[1].calls().iter().map(|x| &x.outcome).collect();
    assert!(matches!(outcomes[..], [ToolOutcome::Failed(_), ToolOutcome::Observed(_), ToolOutcome::Cancelled]));
    Ok(())
}

#[tokio::test]
async fn t6_each_call_is_answered_once_under_its_own_id() -> Tested {
    let counter = Counter::new();
    let model = ScriptedModel::new([
        Reply::calls([
            ToolCall::new("same", "pay", json!({ "n": 1 })),
            ToolCall::new("same", "pay", json!({ "n": 2 })),
            ToolCall::new("", "pay", json!({ "n": 3 })),
            ToolCall::new("", "pay", json!({ "n": 4 })),
        ]),
        Reply::text("done"),
    ]);
    let agent = agent(&model).dyn_tool(effect("pay", &counter)).build()?;
    agent.invoke("go").await?;
    let request = &model.requests()[1];
    assert_paired(&request.messages);
    assert_eq!(request.messages[1].calls().len(), 4);
    assert_eq!(counter.get(), 3, "the call under an id that was taken is corrected, not run");
    Ok(())
}

#[tokio::test]
async fn t7_integers_keep_all_their_bits_through_hooks_receipts_and_resume() -> Tested {
    let values = json!([u64::MAX, i64::MIN, 9_007_199_254_740_993_u64, 1, 1.0, 0.1, true]);
    let store = MemoryStore::new();
    let log = Log::new();
    let hook = log.clone();
    let model = call_then_answer("reads");
    let agent = agent_once(&model)
        .dyn_tool(value_tool("reads", values.clone()))
        .after_tool("sees", move |observation: &mut ToolObservation<'_>| hook.add(observation.result().to_string()))
        .durable(store.clone())
        .build()?;
    let mut conversation = agent.conversation_id("c").await?;
    conversation.invoke("go").await?;
    assert_eq!(log.lines(), [values.to_string()]);
    assert_eq!(model.requests()[1].messages[1].calls()[0].outcome.observed(), Some(&values));
    let reloaded = agent.conversation_id("c").await?;
    assert_eq!(said(reloaded.messages()), said(conversation.messages()));
    Ok(())
}

#[test]
fn t7_a_fixture_shows_what_a_hook_left_and_what_the_receipt_keeps() {
    let mut fixture = ObservationFixture::json("search", json!([1, 2]));
    fixture.with(|observation| *observation.result_mut() = Value::Null);
    assert_eq!((fixture.result(), fixture.original()), (&Value::Null, &json!([1, 2])));
}

#[tokio::test]
async fn t7_what_cannot_be_kept_is_refused_under_the_hooks_name_before_any_event() -> Tested {
    let nested = (0..1_000).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let model = call_then_answer("search");
    let agent = agent(&model)
        .dyn_tool(search_tool())
        .after_tool("nests", move |observation: &mut ToolObservation<'_>| *observation.result_mut() = nested.clone())
        .build()?;
    let ended = drain(agent.run("go").stream()).await;
    let Err(Error::HookValue { hook, .. }) = ended.result else { panic!("{:?}", ended.result) };
    assert_eq!(hook, "nests");
    assert!(!ended.events.iter().any(|event| matches!(event, RunEvent::Observed { .. })));
    assert!(!ended.events.iter().any(|event| matches!(event, RunEvent::HookRan { hook, .. } if hook == "nests")));
    Ok(())
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SearchHits {
    hits: Vec<String>,
    debug: Option<String>,
}

/// Search the catalogue.
#[tool]
async fn search(query: String) -> Result<SearchHits, Boom> {
    tokio::task::yield_now().await;
    Ok(SearchHits { hits: vec![query], debug: Some("took 3 ms".to_owned()) })
}

/// Say the words again.
#[tool]
fn echo(words: String) -> String {
    words
}

#[after_tool(tool = search)]
async fn keep_hits(observation: &mut ToolObservation<'_, SearchHits>) -> Result<(), Boom> {
    tokio::task::yield_now().await;
    if observation.result().hits.is_empty() {
        return Err(Boom("no hits"));
    }
    observation.result_mut().debug = None;
    Ok(())
}

#[after_tool(tool = search)]
fn count_hits(observation: &mut ToolObservation<'_, SearchHits>) {
    let hits = observation.result().hits.len();
    observation.result_mut().hits.push(format!("{hits} in all"));
}

fn typed(model: &ScriptedModel) -> protolink::AgentBuilder {
    agent(model).tools(tools![search, echo]).hooks(hooks![keep_hits, count_hits])
}

#[tokio::test]
async fn t4_a_typed_hook_runs_for_its_tool_only_and_in_its_own_type() -> Tested {
    for path in Path::ALL {
        let model = ScriptedModel::new([
            Reply::calls([("search", json!({ "query": "lamp" })), ("echo", json!({ "words": "hello" }))]),
            Reply::text("done"),
        ]);
        let receipts = Receipts::default();
        let agent = typed(&model).before_complete("keeps", keep_receipts(&receipts)).build()?;
        path.run(&agent, "go").await.result?;
        let request = &model.requests()[1];
        let observed: Vec<_> = request.messages[1].calls().iter().filter_map(|x| x.outcome.observed()).collect();
        assert_eq!(observed, [&json!({ "hits": ["lamp", "1 in all"], "debug": null }), &json!("hello")], "{path:?}");
        let receipts = receipts.lock().expect("no test panicked here");
        // Receipts stand in the order in which the tools ended.
        let found = receipts.iter().find(|receipt| receipt.tool == "search").and_then(|receipt| receipt.result());
        assert_eq!(found, Some(&json!({ "hits": ["lamp"], "debug": "took 3 ms" })));
    }
    Ok(())
}

#[tokio::test]
async fn t4_a_result_that_does_not_decode_is_an_error_that_names_the_hook_and_not_the_result() -> Tested {
    // An earlier, untyped hook leaves something that is no `SearchHits` any more.
    let model = ScriptedModel::new([Reply::call("search", json!({ "query": "lamp" }))]);
    let agent = agent(&model)
        .tools(tools![search])
        .after_tool("breaks", |observation: &mut ToolObservation<'_>| {
            *observation.result_mut() = json!({ "hits": "s3cret" });
        })
        .hooks(hooks![keep_hits])
        .build()?;
    let error = agent.invoke("go").await.expect_err("it does not decode");
    let Error::HookValue { hook, step: 1, .. } = &error else { panic!("{error:?}") };
    assert_eq!(hook, "keep_hits");
    assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    Ok(())
}

#[test]
fn t4_a_hook_for_a_tool_that_the_agent_lacks_fails_the_build() {
    let built = agent(&ScriptedModel::new([])).tools(tools![echo]).hooks(hooks![keep_hits]).build();
    let Err(protolink::BuildError::HookForMissingTool { hook, tool, .. }) = built else { panic!("it is missing") };
    assert_eq!((hook.as_str(), tool.as_str()), ("keep_hits", "search"));
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Reading {
    celsius: f64,
    id: u64,
}

/// Read a sensor.
#[tool]
fn read_sensor(broken: Option<bool>) -> Reading {
    Reading { celsius: if broken == Some(true) { f64::NAN } else { 20.5 }, id: u64::MAX }
}

#[after_tool(tool = read_sensor)]
fn spoil(observation: &mut ToolObservation<'_, Reading>) {
    assert_eq!(observation.result().id, u64::MAX);
    observation.result_mut().celsius = f64::INFINITY;
}

#[tokio::test]
async fn t7_a_number_that_json_cannot_hold_is_refused_under_the_name_of_who_gave_it() -> Tested {
    let model = ScriptedModel::new([Reply::call("read_sensor", json!({}))]);
    let agent = agent(&model).tools(tools![read_sensor]).hooks(hooks![spoil]).build()?;
    let ended = drain(agent.run("go").stream()).await;
    let Err(Error::HookValue { hook, source, .. }) = ended.result else { panic!("{:?}", ended.result) };
    assert_eq!((hook.as_str(), source), ("spoil", protolink::ValueError::NotFinite));
    assert!(!ended.events.iter().any(|event| matches!(event, RunEvent::Observed { .. })));
    Ok(())
}

#[tokio::test]
async fn t5_a_failing_hook_undoes_nothing() -> Tested {
    let effects = Counter::new();
    let agent = agent(&call_then_answer("pay"))
        .dyn_tool(effect("pay", &effects))
        .after_tool("fails", |_: &mut ToolObservation<'_>| Err::<(), _>(Boom("after")))
        .build()?;
    let mut conversation = agent.conversation();
    conversation.invoke("go").await.expect_err("the hook fails");
    assert_eq!(effects.get(), 1);
    assert!(matches!(conversation.messages()[1].calls()[0].outcome, ToolOutcome::Withheld { .. }));
    Ok(())
}

#[tokio::test]
async fn t4_a_typed_hook_sees_after_a_resume_what_it_saw_live() -> Tested {
    let store = MemoryStore::new();
    let model = ScriptedModel::new([Reply::call("search", json!({ "query": "lamp" })), Reply::text("done")]);
    let breaks = typed(&model)
        .after_tool("breaks", |_: &mut ToolObservation<'_>| Err::<(), _>(Boom("later hook")))
        .durable(store.clone())
        .build()?;
    breaks.run("go").run_id("r").await.expect_err("it breaks");
    let mended = typed(&model).durable(store).build()?;
    let Err(Error::ContractChanged { changes, .. }) = mended.resume("r").await else { panic!("it lacks a hook") };
    let outcome = mended.resume("r").accept(changes).await?;
    assert_eq!(outcome.answer().map(Answer::text), Some("done"));
    let requests = model.requests();
    let observed = requests[1].messages[1].calls()[0].outcome.observed();
    assert_eq!(observed, Some(&json!({ "hits": ["lamp", "1 in all"], "debug": null })));
    Ok(())
}

#[tokio::test]
async fn t5_a_failing_hook_undoes_nothing_and_resume_uses_the_receipt() -> Tested {
    let (effects, store, model) = (Counter::new(), MemoryStore::new(), call_then_answer("pay"));
    let build = |broken: bool| {
        let builder = agent(&model).dyn_tool(effect("pay", &effects)).durable(store.clone());
        let builder = if broken {
            builder.after_tool("broken", |_: &mut ToolObservation<'_>| Err::<(), _>(Boom("after")))
        } else {
            builder.after_tool("mended", |observation: &mut ToolObservation<'_>| {
                assert_eq!(observation.result(), &json!({ "count": 1 }), "it is the original result");
                *observation.result_mut() = json!("paid");
            })
        };
        builder.build()
    };
    let Err(Error::Hook { .. }) = build(true)?.run("go").run_id("r").await else { panic!("the hook fails") };
    assert_eq!(effects.get(), 1);
    let mended = build(false)?;
    let Err(Error::ContractChanged { changes, .. }) = mended.resume("r").await else { panic!("it is another hook") };
    let outcome = mended.resume("r").accept(changes).await?;
    assert_eq!(outcome.answer().map(Answer::text), Some("done"));
    assert_eq!((effects.get(), model.request_count()), (1, 2), "neither the tool nor the first step is made again");
    assert!(sent(&model.requests()[1])[1].ends_with("= paid"));
    Ok(())
}

#[tokio::test]
async fn t7_a_tools_result_that_cannot_be_kept_leaves_its_effect_on_record() -> Tested {
    let (store, observed) = (MemoryStore::new(), Counter::new());
    let hook = observed.clone();
    let model = ScriptedModel::new([Reply::call("read_sensor", json!({ "broken": true })), Reply::text("done")]);
    let agent = agent_once(&model)
        .tools(tools![read_sensor])
        .after_tool("counts", move |_: &mut ToolObservation<'_>| hook.up())
        .durable(store)
        .build()?;
    let Err(Error::ToolValue { action_id, tool, source, .. }) = agent.run("go").run_id("r").await else {
        panic!("it cannot be kept")
    };
    assert_eq!((tool.as_str(), source, observed.get()), ("read_sensor", protolink::ValueError::NotFinite, 0));
    let Err(Error::Uncertain { .. }) = agent.resume("r").await else { panic!("it is not run again") };
    agent.reconcile("r", &action_id, json!({ "celsius": 20.0, "id": 1 })).await?;
    let outcome = agent.resume("r").await?;
    assert_eq!((outcome.answer().map(Answer::text), observed.get()), (Some("done"), 1));
    assert_eq!(
        model.requests()[1].messages[1].calls()[0].outcome.observed(),
        Some(&json!({ "celsius": 20.0, "id": 1 }))
    );
    Ok(())
}
