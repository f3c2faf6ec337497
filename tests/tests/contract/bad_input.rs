//! What is wrong from outside gives a typed error or a correction, and loses nothing of the conversation.

use std::error::Error as StdError;

use protolink::durable::MemoryStore;
use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{BuildError, DynTool, HookPanicked, OnError, ToolCall, ToolOutcome, ToolPanicked};
use protolink_tests::{Counter, Log, Path, agent, assert_paired, drain, effect, said, search_tool, sent, value_tool};
use serde_json::{Value, json};

type Tested = Result<(), Box<dyn StdError>>;

fn object() -> Value {
    json!({ "type": "object" })
}

fn nested(levels: usize) -> Value {
    // Built by hand: `json!` copies what it is given, level for level.
    (0..levels).fold(json!(1), |inner, _| Value::Object([("a".to_owned(), inner)].into_iter().collect()))
}

#[test]
fn p5_two_tools_of_one_name_are_refused() {
    let built = agent(&ScriptedModel::new([])).dyn_tool(search_tool()).dyn_tool(search_tool()).build();
    let Err(error @ BuildError::DuplicateTool { .. }) = built else { panic!("two of one name") };
    assert!(error.to_string().contains("`search`"));
    // The built-in reader of large results is a tool like any other.
    let built = agent(&ScriptedModel::new([]))
        .context_policy(ContextPolicy::new(1_000).max_result_chars(10))
        .dyn_tool(value_tool("read_artifact", json!(1)))
        .build();
    assert!(matches!(built, Err(BuildError::DuplicateTool { .. })));
}

#[test]
fn p5_an_agent_without_a_model_is_refused() {
    let built = Agent::builder("nobody").build();
    assert!(matches!(built, Err(BuildError::NoModel { agent }) if agent == "nobody"));
}

#[test]
fn p5_a_tools_name_is_one_that_providers_take() {
    let long = "a".repeat(65);
    for name in ["", " ", "two words", "näme", "dot.ted", "slash/ed", "new\nline", "`", long.as_str()] {
        let built = agent(&ScriptedModel::new([])).dyn_tool(value_tool(name, json!(1))).build();
        assert!(matches!(&built, Err(BuildError::ToolName { tool }) if tool == name), "{name:?}: {built:?}");
    }
    let longest = "a".repeat(64);
    for name in ["a", "A-b_9", "-", longest.as_str()] {
        assert!(agent(&ScriptedModel::new([])).dyn_tool(value_tool(name, json!(1))).build().is_ok(), "{name:?}");
    }
}

#[test]
fn p5_a_tools_schema_is_that_of_an_object() {
    for schema in [json!(null), json!({}), json!({ "type": "string" }), json!(true), json!([1])] {
        let tool = DynTool::new("t", "", schema, |_, _| async { Ok::<_, ToolError>(json!(1)) });
        let built = agent(&ScriptedModel::new([])).dyn_tool(tool).build();
        assert!(matches!(built, Err(BuildError::ToolSchema { .. })));
    }
}

#[tokio::test]
async fn m4_a_hook_that_removes_every_tool_leaves_a_request_without_tools() -> Tested {
    let (counter, model) = (Counter::new(), ScriptedModel::new([Reply::call("pay", json!({})), Reply::text("done")]));
    let agent = agent(&model.clone().without_native_tools())
        .instructions("Base.")
        .dyn_tool(effect("pay", &counter))
        .before_model("clears", |request: &mut ModelRequest<'_>| request.tools().retain(|_| false))
        .build()?;
    assert_eq!(agent.invoke("go").await?.text(), "done");
    assert_eq!(counter.get(), 0);
    for request in model.requests() {
        assert_eq!((request.system.as_str(), request.tools.len()), ("Base.", 0));
    }
    assert!(sent(&model.requests()[1])[1].contains("no tools are available"));
    Ok(())
}

#[tokio::test]
async fn m9_an_unknown_tool_is_corrected() -> Tested {
    for name in ["nope", "", "sea rch", "search\n", "SEARCH", &"x".repeat(10_000)] {
        for durable in [false, true] {
            let (name, model) =
                (name.to_owned(), ScriptedModel::new([Reply::call(name, json!({})), Reply::text("done")]));
            let builder = agent(&model).dyn_tool(search_tool());
            let builder = if durable { builder.durable(MemoryStore::new()) } else { builder };
            let agent = builder.build()?;
            let mut conversation = agent.conversation();
            assert_eq!(conversation.invoke("go").await?.text(), "done", "{name:?}");
            let outcome = &conversation.messages()[1].calls()[0].outcome;
            assert!(matches!(outcome, ToolOutcome::Rejected(text) if text.contains("search")), "{outcome:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn t6_ids_of_calls_that_are_empty_repeated_or_known_are_made_distinct() -> Tested {
    let counter = Counter::new();
    let model = ScriptedModel::new([
        Reply::calls([ToolCall::new("a", "pay", json!({})), ToolCall::new("a", "pay", json!({}))]),
        // An id of an earlier turn is that turn's; here it names this turn's call.
        Reply::calls([ToolCall::new("a", "pay", json!({})), ToolCall::new("", "pay", json!({}))]),
        // A call that takes the name which the loop would give to the next.
        Reply::calls([ToolCall::new("call_3_1", "pay", json!({})), ToolCall::new("", "pay", json!({}))]),
        Reply::text("done"),
    ]);
    let agent = agent(&model).dyn_tool(effect("pay", &counter)).build()?;
    let mut conversation = agent.conversation();
    conversation.invoke("go").await?;
    assert_paired(conversation.messages());
    assert_eq!(counter.get(), 5, "the repeated one was corrected");
    let outcome = &conversation.messages()[1].calls()[1].outcome;
    assert!(matches!(outcome, ToolOutcome::Rejected(reason) if reason.contains("id")), "{outcome:?}");
    Ok(())
}

/// Search the catalogue.
#[tool]
fn typed(query: String, limit: Option<u8>) -> String {
    query + &format!(" {limit:?}")
}

#[tokio::test]
async fn m9_arguments_that_do_not_fit_are_corrected_and_run_nothing() -> Tested {
    let bad = [
        json!("{\"query\": \"cut o"),
        json!([1, 2]),
        json!(7),
        json!(true),
        json!({}),
        json!({ "query": 1 }),
        json!({ "query": null }),
        json!({ "query": "a", "limit": 256 }),
        json!({ "query": "a", "limit": -1 }),
        json!({ "query": "a", "limit": "1" }),
        json!({ "query": "a", "unknown": 1 }),
        nested(1_000),
    ];
    for arguments in bad {
        for durable in [false, true] {
            let model = ScriptedModel::new([
                Reply::call("typed", arguments.clone()),
                Reply::call("typed", json!({ "query": "fine" })),
                Reply::text("done"),
            ]);
            let builder = agent(&model).tools(tools![typed]);
            let builder = if durable { builder.durable(MemoryStore::new()) } else { builder };
            let agent = builder.build()?;
            let mut conversation = if durable { agent.conversation_id("c").await? } else { agent.conversation() };
            assert_eq!(conversation.invoke("go").await?.text(), "done");
            let turns = conversation.messages();
            assert!(matches!(turns[1].calls()[0].outcome, ToolOutcome::Rejected(_)), "{:?}", turns[1]);
            assert_eq!(turns[2].calls()[0].outcome.observed(), Some(&json!("fine None")));
            if durable {
                let reloaded = agent.conversation_id("c").await?;
                assert_eq!(said(reloaded.messages()), said(turns), "the store gives back what was kept");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn m9_a_dynamic_tool_gets_objects_that_can_be_kept_and_nothing_else() -> Tested {
    let log = Log::new();
    let model = ScriptedModel::new([
        Reply::calls([
            ("any", json!("no object")),
            ("any", nested(1_000)),
            ("any", nested(90)),
            ("any", Value::Null),
            ("any", json!({ "n": 18_446_744_073_709_551_615_u64 })),
        ]),
        Reply::text("done"),
    ]);
    let seen = log.clone();
    let any = DynTool::new("any", "", object(), move |arguments, _| {
        seen.add(if arguments.to_string().len() > 100 { "deep".to_owned() } else { arguments.to_string() });
        async { Ok::<_, ToolError>(json!(1)) }
    });
    let agent = agent(&model).dyn_tool(any).durable(MemoryStore::new()).build()?;
    let mut conversation = agent.conversation_id("c").await?;
    conversation.invoke("go").await?;
    assert_eq!(log.lines(), ["deep", "{}", r#"{"n":18446744073709551615}"#]);
    assert_eq!(said(agent.conversation_id("c").await?.messages()), said(conversation.messages()));
    Ok(())
}

/// A model that makes any reply.
struct Replies<F>(F);

#[async_trait::async_trait]
impl<F: Fn() -> ModelReply + Send + Sync + 'static> Model for Replies<F> {
    fn id(&self) -> ModelId {
        ModelId::new("test", "replies")
    }

    async fn respond(&self, _: &PreparedRequest<'_>, _: &mut ChunkSink<'_>) -> Result<ModelReply, ModelError> {
        Ok((self.0)())
    }
}

#[tokio::test]
async fn f1_an_empty_reply_is_an_answer_that_is_checked() -> Tested {
    let replies: [fn() -> ModelReply; 4] = [
        || ModelReply::text(""),
        || ModelReply::calls(None, Vec::new()),
        || ModelReply::calls(Some(String::new()), Vec::new()),
        || ModelReply::text("").with_provider(Value::Null),
    ];
    for reply in replies {
        for path in Path::ALL {
            let log = Log::new();
            let seen = log.clone();
            let agent = Agent::builder("tester")
                .model(Replies(reply))
                .before_complete("sees", move |response: &mut FinalResponse<'_>| {
                    seen.add(format!("{:?}", response.text()));
                    if response.text() == Some("") { Err("it is empty") } else { Ok(()) }
                })
                .build()?;
            let ended = path.run(&agent, "go").await;
            assert!(matches!(ended.result, Err(Error::Hook { .. })), "{path:?}");
            assert_eq!(log.lines(), [r#"Some("")"#], "{path:?}");
        }
        let agent = Agent::builder("tester").model(Replies(reply)).build()?;
        assert_eq!(agent.invoke("go").await?.text(), "", "without a check, it is the answer");
    }
    Ok(())
}

#[tokio::test]
async fn s5_panics_of_every_kind_are_typed_errors_and_the_conversation_goes_on() -> Tested {
    let payloads: [(&str, fn()); 3] = [
        ("plain words", || panic!("plain words")),
        ("made words 1", || panic!("made words {}", std::hint::black_box(1))),
        ("a value that is no text", || std::panic::panic_any(Boxed)),
    ];
    for (words, panics) in payloads {
        let model = ScriptedModel::from_fn(|_| Reply::text("done"));
        let agent = agent(&model)
            .before_complete("panics", move |response: &mut FinalResponse<'_>| {
                if response.context().get("calm").is_none() {
                    panics();
                }
            })
            .build()?;
        let mut conversation = agent.conversation();
        let Err(Error::Hook { source, .. }) = conversation.invoke("go").await else { panic!("it panics") };
        assert_eq!(source.downcast_ref::<HookPanicked>().map(|panicked| panicked.message.as_str()), Some(words));
        assert_eq!(said(conversation.messages()), ["user: go"]);
        let _ = conversation.run("again").context("calm", true).await?;
        assert_eq!(said(conversation.messages()), ["user: go", "user: again", "assistant: done"]);
    }
    Ok(())
}

struct Boxed;

#[tokio::test]
async fn p6_a_tool_that_panics_fails_the_run_and_loses_nothing() -> Tested {
    fn panicking() -> DynTool {
        DynTool::new("panics", "", object(), |arguments, _| async move {
            assert!(arguments.get("calm").is_some(), "tool panic");
            Ok::<_, ToolError>(json!("calm"))
        })
    }
    for path in Path::ALL {
        let model = ScriptedModel::new([Reply::call("panics", json!({}))]);
        let agent = agent(&model).dyn_tool(panicking()).build()?;
        let Err(Error::Tool { tool, source, .. }) = path.run(&agent, "go").await.result else { panic!("{path:?}") };
        let message = source.downcast_ref::<ToolPanicked>().map(|panicked| panicked.message.clone());
        assert_eq!((tool.as_str(), message.as_deref()), ("panics", Some("tool panic")));
    }
    let model = ScriptedModel::new([
        Reply::calls([("panics", json!({})), ("panics", json!({ "calm": 1 }))]),
        Reply::text("done"),
    ]);
    let fails = agent(&model).dyn_tool(panicking()).build()?;
    let mut conversation = fails.conversation();
    conversation.invoke("go").await.expect_err("it panics");
    assert_paired(conversation.messages());
    let outcomes: Vec<_> = conversation.messages()[1].calls().iter().map(|exchange| &exchange.outcome).collect();
    assert!(matches!(outcomes[0], ToolOutcome::Failed(text) if text.contains("tool panic")), "{outcomes:?}");
    assert_eq!(conversation.invoke("again").await?.text(), "done");

    // One that reports its failures tells the model.
    let model = ScriptedModel::new([Reply::call("panics", json!({})), Reply::text("done")]);
    let reports = agent(&model).dyn_tool(panicking().on_error(OnError::Report)).build()?;
    assert_eq!(reports.invoke("go").await?.text(), "done");
    Ok(())
}

/// Panics where it stands, before it gives a future.
#[tokio::test]
async fn p6_a_tool_that_panics_before_it_is_polled_is_caught_too() -> Tested {
    let tool = DynTool::new("panics", "", object(), |arguments, _| {
        assert!(arguments.get("calm").is_some(), "early panic");
        async { Ok::<_, ToolError>(json!(1)) }
    });
    let agent = agent(&ScriptedModel::new([Reply::call("panics", json!({}))])).dyn_tool(tool).build()?;
    assert!(matches!(agent.invoke("go").await, Err(Error::Tool { .. })));
    assert!(matches!(agent.call_tool("panics", json!({})).await, Err(Error::Tool { .. })));
    assert_eq!(agent.call_tool("panics", json!({ "calm": 1 })).await?, json!(1));
    Ok(())
}

#[tokio::test]
async fn p6_a_model_that_panics_fails_the_run_and_loses_nothing() -> Tested {
    for path in Path::ALL {
        let model = ScriptedModel::new([Reply::panic("model panic"), Reply::text("done")]);
        let agent = agent(&model).build()?;
        let Err(Error::ModelPanicked { message, step: 1, .. }) = path.run(&agent, "go").await.result else {
            panic!("{path:?}")
        };
        assert_eq!(message, "model panic");
        assert_eq!(model.request_count(), 1, "a panic is not asked again");
        assert_eq!(path.run(&agent, "again").await.result?.text(), "done");
    }
    let model =
        ScriptedModel::new([Reply::call("search", json!({})), Reply::panic("model panic"), Reply::text("done")]);
    let agent = agent(&model).dyn_tool(search_tool()).build()?;
    let mut conversation = agent.conversation();
    conversation.invoke("go").await.expect_err("it panics");
    assert_eq!(said(conversation.messages()), ["user: go", "assistant: search({}) = {}"]);
    assert_eq!(conversation.invoke("again").await?.text(), "done");
    Ok(())
}

#[tokio::test]
async fn t7_a_value_for_the_context_that_cannot_be_kept_is_a_typed_error() -> Tested {
    let model = ScriptedModel::new([Reply::text("never")]);
    let agent = agent(&model).build()?;
    assert!(matches!(agent.run("go").context("k", f64::NAN).await, Err(Error::Value { .. })));
    let ended = drain(agent.run("go").context("k", nested(1_000)).stream()).await;
    assert!(matches!(ended.result, Err(Error::Value { .. })));
    assert_eq!(model.request_count(), 0);
    Ok(())
}

#[tokio::test]
async fn t7_a_message_that_cannot_be_kept_is_refused_under_the_hooks_name() -> Tested {
    use protolink::{Exchange, Turn};
    let deep = || {
        let call = ToolCall::new("1", "search", nested(1_000));
        Message::Assistant(Turn::new(None, vec![Exchange { call, outcome: ToolOutcome::Cancelled }]))
    };
    let seen = || {
        let outcome = ToolOutcome::Observed(nested(1_000).into());
        let exchange = Exchange { call: ToolCall::new("1", "search", json!({})), outcome };
        Message::Assistant(Turn::new(None, vec![exchange]))
    };
    let makers: [fn() -> Message; 2] = [deep, seen];
    for (maker, only_here) in makers.into_iter().flat_map(|maker| [(maker, true), (maker, false)]) {
        let model = ScriptedModel::new([Reply::text("never")]);
        let agent = agent(&model)
            .before_model("pushes", move |request: &mut ModelRequest<'_>| {
                let mut history = if only_here { request.this_step() } else { request.history() };
                history.push(maker());
            })
            .build()?;
        let mut conversation = agent.conversation();
        let result = conversation.invoke("go").await;
        let Err(Error::HookValue { hook, .. }) = &result else { panic!("{result:?}") };
        assert_eq!((hook.as_str(), model.request_count()), ("pushes", 0));
        assert_eq!(said(conversation.messages()), ["user: go"]);
    }
    Ok(())
}
