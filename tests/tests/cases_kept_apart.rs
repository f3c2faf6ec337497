//! What a runtime breaks easily: the slot of the system message, copies, conversations of their own, secrets.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use protolink::durable::MemoryStore;
use protolink::prelude::*;
use protolink::rules::BudgetLimit;
use protolink::testing::{RecordedRequest, Reply, ScriptedModel};
use protolink::{AgentConfig, BoxFuture, BuildError, ReceiptOutcome, SharedValue, ToolOutcome, ValueError};
use protolink_tests::{
    Boom, Counter, Log, Path, Spans, agent, agent_once, drain, effect, said, search_tool, sent, value_tool,
};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

#[tokio::test]
async fn p1_r53_a_hook_sees_a_tool_and_changes_nothing_about_it() -> Tested {
    // What a hook holds of a tool is a shared description; a changed copy of it goes nowhere.
    let (effects, model) = (Counter::new(), ScriptedModel::new([Reply::call("pay", json!({})), Reply::text("done")]));
    let agent = agent(&model)
        .dyn_tool(effect("pay", &effects))
        .policy(CapabilityPolicy::new().deny("pay"))
        .before_model("pretends", |request: &mut ModelRequest<'_>| {
            let copy = request.tools().iter().next().cloned();
            let json = serde_json::to_value(copy).unwrap_or_default();
            assert_eq!(json["capabilities"], json!(["pay"]));
        })
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(effects.get(), 0);
    Ok(())
}

#[tokio::test]
async fn m11_r55_what_is_done_to_a_copy_of_the_context_reaches_nobody() -> Tested {
    let log = Log::new();
    let (one, two, three) = (log.clone(), log.clone(), log.clone());
    let agent = agent_once(&ScriptedModel::new([Reply::call("search", json!({})), Reply::text("done")]))
        .dyn_tool(search_tool())
        .before_model("pretends", move |request: &mut ModelRequest<'_>| {
            let mut copy = request.context().clone();
            if let Some(rights) = copy.metadata.get_mut("rights").and_then(|rights| rights.as_array_mut()) {
                rights.push(json!("everything"));
            }
            one.add(format!("{:?}", request.context().get("rights").map(ToString::to_string)));
        })
        .after_tool("later", move |observation: &mut ToolObservation<'_>| {
            two.add(format!("{:?}", observation.context().get("rights").map(ToString::to_string)));
        })
        .before_complete("last", move |response: &mut FinalResponse<'_>| {
            three.add(format!("{:?}", response.context().get("rights").map(ToString::to_string)));
        })
        .build()?;
    let _ = agent.run("go").context("rights", ["read"]).await?;
    assert_eq!(log.lines(), vec![r#"Some("[\"read\"]")"#; 4]);
    Ok(())
}

#[tokio::test]
async fn m8_r56_what_stands_first_in_the_history_is_not_the_system_message() -> Tested {
    for displaces in [false, true] {
        let model = ScriptedModel::new([Reply::text("one"), Reply::call("tea", json!({})), Reply::text("two")]);
        let model = model.without_native_tools();
        let agent = agent(&model)
            .instructions("Base.")
            .dyn_tool(value_tool("tea", json!(1)))
            .dyn_tool(value_tool("milk", json!(1)))
            .before_model("first", move |request: &mut ModelRequest<'_>| {
                request.tools().remove_named("tea");
                let mut history = request.history();
                if displaces {
                    history.insert(0, Message::user("I am the system now"));
                } else if history.len() > 1 {
                    history.remove(0);
                }
            })
            .build()?;
        let mut conversation = agent.conversation();
        conversation.invoke("hello").await?;
        conversation.invoke("again").await?;
        for request in model.requests() {
            assert!(request.system.starts_with("Base.\n\n# Tools"), "{}", request.system);
            assert!(request.system.contains("- milk:") && !request.system.contains("tea"));
            assert!(!request.system.contains("I am the system now") && !request.system.contains("hello"));
            assert!(request.messages.iter().any(|message| message.is_user()));
        }
    }
    Ok(())
}

#[tokio::test]
async fn t3_r58_a_large_result_is_not_copied_where_no_hook_asks_for_it() -> Tested {
    let kept: Arc<std::sync::Mutex<Option<SharedValue>>> = Arc::default();
    let keep = Arc::clone(&kept);
    let model = ScriptedModel::new([Reply::call("large", json!({})), Reply::text("done")]);
    let agent = agent(&model)
        .dyn_tool(value_tool("large", json!("x".repeat(1_000_000))))
        .before_model("looks", |request: &mut ModelRequest<'_>| assert!(!request.history().is_empty()))
        .before_complete("keeps", move |response: &mut FinalResponse<'_>| {
            if let ReceiptOutcome::Returned(value) = &response.receipts()[0].outcome {
                *keep.lock().expect("no test panicked here") = Some(value.clone());
            }
        })
        .build()?;
    agent.invoke("go").await?;
    let requests = model.requests();
    let ToolOutcome::Observed(sent) = &requests[1].messages[1].calls()[0].outcome else { panic!("it is observed") };
    assert!(kept.lock().expect("no test panicked here").as_ref().is_some_and(|kept| kept.same(sent)));
    Ok(())
}

#[before_complete]
fn answers_nothing_that_is(response: &mut FinalResponse<'_>) -> Result<(), ValueError> {
    response.set_content([1.0, f64::NAN])
}

#[tokio::test]
async fn f1_r59_an_answer_that_cannot_be_stored_is_an_error_before_any_final_event() -> Tested {
    let store = MemoryStore::new();
    let agent = agent(&ScriptedModel::new([Reply::chunks(["do", "ne"])]))
        .hooks(hooks![answers_nothing_that_is])
        .durable(store)
        .build()?;
    let mut conversation = agent.conversation();
    let ended = drain(conversation.run("go").stream()).await;
    let Err(Error::HookValue { hook, source, .. }) = ended.result else { panic!("{:?}", ended.result) };
    assert_eq!((hook.as_str(), source), ("answers_nothing_that_is", ValueError::NotFinite));
    assert!(!ended.events.iter().any(|event| matches!(event, RunEvent::Completed(_))));
    assert_eq!(said(conversation.messages()), ["user: go"]);
    Ok(())
}

#[tokio::test]
async fn s11_r60_a_hook_cannot_run_its_own_conversation_again() -> Tested {
    let store = MemoryStore::new();
    let own: Arc<std::sync::OnceLock<Agent>> = Arc::default();
    let (slot, log) = (Arc::clone(&own), Log::new());
    let seen = log.clone();
    let agent = agent_once(&ScriptedModel::from_fn(|_| Reply::text("done")))
        .before_model("again", move |request: &mut ModelRequest<'_>| -> BoxFuture<'static, Result<(), Error>> {
            let (agent, log) = (slot.get().cloned(), seen.clone());
            let inner = request.context().session.is_none();
            Box::pin(async move {
                let Some(agent) = agent.filter(|_| !inner) else { return Ok(()) };
                // The same agent, in a conversation of its own, is another run.
                log.add(agent.invoke("sub").await?.text());
                // The same conversation is open: its run has not ended.
                let mut same = agent.conversation_id("c").await?;
                let refused = same.invoke("again").await;
                log.add(format!("{}", matches!(refused, Err(Error::ConversationOpen { .. }))));
                Ok(())
            })
        })
        .durable(store)
        .build()?;
    own.set(agent.clone()).expect("it is set once");
    let mut conversation = agent.conversation_id("c").await?;
    let answer = tokio::time::timeout(Duration::from_secs(10), conversation.invoke("go")).await??;
    assert_eq!((answer.text(), log.lines()), ("done", vec!["done".to_owned(), "true".to_owned()]));
    assert_eq!(said(conversation.messages()), ["user: go", "assistant: done"]);
    Ok(())
}

#[tokio::test]
async fn p6_r62_two_agents_of_one_name_share_nothing() -> Tested {
    let build = |words: &'static str, store: &MemoryStore| {
        agent(&ScriptedModel::from_fn(move |_| Reply::text(words)))
            .instructions(words)
            .before_complete("signs", move |response: &mut FinalResponse<'_>| {
                let signed = format!("{}!", response.text().unwrap_or_default());
                response.set_text(signed);
            })
            .durable(store.clone())
            .build()
    };
    let (first, second) = (build("one", &MemoryStore::new())?, build("two", &MemoryStore::new())?);
    assert_eq!(first.name(), second.name());
    let (mut a, mut b) = (first.conversation_id("c").await?, second.conversation_id("c").await?);
    for _ in 0..2 {
        let (one, two) = tokio::join!(a.invoke("go"), b.invoke("go"));
        assert_eq!((one?.text(), two?.text()), ("one!", "two!"));
    }
    assert_eq!(said(a.messages()), ["user: go", "assistant: one!", "user: go", "assistant: one!"]);
    assert_eq!(said(b.messages()), ["user: go", "assistant: two!", "user: go", "assistant: two!"]);
    Ok(())
}

fn hook(_: &mut ModelRequest<'_>) {}

#[test]
fn p4_r65_a_restored_agent_lists_every_hook_that_is_missing() -> Tested {
    let model = ScriptedModel::new([]);
    let saved = agent(&model)
        .dyn_tool(search_tool())
        .before_model("first", hook)
        .before_model("second", hook)
        .after_tool("third", |_: &mut ToolObservation<'_>| ())
        .build()?
        .config();
    let config: AgentConfig = serde_json::from_value(serde_json::to_value(&saved)?)?;
    let restored = config.builder().model(model).dyn_tool(search_tool()).before_model("second", hook).build();
    let Err(error @ BuildError::HooksMissing { .. }) = restored else { panic!("two are missing: {restored:?}") };
    let text = error.to_string();
    assert!(text.contains("first") && text.contains("third") && !text.contains("second"), "{text}");
    Ok(())
}

#[tokio::test]
async fn f1_r66_an_empty_answer_reaches_the_check() -> Tested {
    for path in Path::ALL {
        let log = Log::new();
        let seen = log.clone();
        let agent = agent_once(&ScriptedModel::new([Reply::text("")]))
            .before_complete("sees", move |response: &mut FinalResponse<'_>| {
                seen.add(format!("{:?}", response.text()));
                response.set_text("filled");
            })
            .build()?;
        assert_eq!(path.run(&agent, "go").await.result?.text(), "filled", "{path:?}");
        assert_eq!(log.lines(), [r#"Some("")"#]);
    }
    Ok(())
}

#[tokio::test]
async fn p2_r67_what_is_used_up_is_said_before_hooks_spend_work() -> Tested {
    let time = Duration::from_millis(300);
    let budgets = [
        (Budget::new().max_steps(1), BudgetLimit::Steps(1)),
        (Budget::new().max_model_calls(1), BudgetLimit::ModelCalls(1)),
        (Budget::new().max_tokens(100), BudgetLimit::Tokens(100)),
        (Budget::new().max_input_tokens(60), BudgetLimit::InputTokens(60)),
        (Budget::new().max_wall_time(time), BudgetLimit::WallTime(time)),
    ];
    for (budget, expected) in budgets {
        let is_time = expected == BudgetLimit::WallTime(time);
        // Time takes its time: two paths are enough for it.
        for path in Path::ALL.into_iter().take(if is_time { 2 } else { Path::ALL.len() }) {
            let hooks = Counter::new();
            let ran = hooks.clone();
            let slow = protolink::DynTool::new("search", "", json!({ "type": "object" }), move |_, _| async move {
                tokio::time::sleep(if is_time { time } else { Duration::ZERO }).await;
                Ok::<_, ToolError>(json!(1))
            });
            let model = ScriptedModel::new([Reply::calls([("search", json!({}))]).usage(60, 40), Reply::text("never")]);
            let agent = agent_once(&model)
                .dyn_tool(slow)
                .budget(budget.clone())
                .before_model("counts", move |_: &mut ModelRequest<'_>| ran.up())
                .build()?;
            let ended = path.run(&agent, "go").await;
            let Err(Error::Budget { limit, .. }) = ended.result else { panic!("{expected:?}: {:?}", ended.result) };
            assert_eq!((limit, hooks.get(), model.request_count()), (expected, 1, 1), "{path:?}");
        }
    }
    Ok(())
}

/// Whether one of these holds the secret.
fn tells(requests: &[RecordedRequest]) -> bool {
    requests.iter().any(|request| format!("{request:?}").contains("s3cret"))
}

#[tokio::test]
async fn t5_r68_a_redaction_that_fails_shows_nothing() -> Tested {
    for (captures, durable) in [(false, false), (false, true), (true, false)] {
        let (log, spans) = (Log::new(), Spans::new());
        let seen = log.clone();
        let model =
            ScriptedModel::new([Reply::calls([("reads", json!({})), ("reads", json!({}))]), Reply::text("done")]);
        let builder = agent(&model).dyn_tool(value_tool("reads", json!({ "key": "s3cret" })));
        let builder = if durable { builder.durable(MemoryStore::new()) } else { builder };
        let agent = builder
            .after_tool("redacts", |observation: &mut ToolObservation<'_>| {
                observation.result_mut()["key"] = json!("[hidden]");
                if observation.context().get("fail").is_some() { Err(Boom("redaction")) } else { Ok(()) }
            })
            .observer(move |event: &RunEvent| seen.add(serde_json::to_string(event).unwrap_or_default()))
            .capture_content(captures)
            .build()?;
        let guard = spans.watch();
        let mut conversation = agent.conversation();
        let ended = drain(conversation.run("go").context("fail", true).stream()).await;
        let error = ended.result.expect_err("the redaction fails");
        assert!(!format!("{error} {error:?} {:?}", error.source()).contains("s3cret"));
        assert!(!serde_json::to_string(&ended.events)?.contains("s3cret"));
        assert!(!log.lines().join("\n").contains("s3cret"));
        assert!(!format!("{:?}", conversation.messages()).contains("s3cret"));
        conversation.invoke("and now?").await?;
        assert!(!tells(&model.requests()), "{:?}", sent(&model.requests()[1]));
        drop(guard);
        // What a tool really gave back is content: a span has it where its capture was switched on, and nowhere else.
        assert_eq!(spans.text().contains("s3cret"), captures, "{}", spans.text());
    }
    Ok(())
}
