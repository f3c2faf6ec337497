//! Section S of the contract: stages and registration.

use std::error::Error as StdError;
use std::time::Duration;

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentHooks, BoxFuture, CancellationToken, HookPanicked, NoState, Stage, ToolOutcome};
use protolink_tests::{
    Boom, Counter, Log, Path, agent, agent_once, assert_paired, drain, effect, said, search_tool, sent,
};
use serde_json::{Value, json};

type Tested = Result<(), Box<dyn StdError>>;

/// A model that calls `search` once and answers.
fn one_call() -> ScriptedModel {
    ScriptedModel::new([Reply::call("search", json!({ "trail": [] })), Reply::text("found")])
}

fn leave(observation: &mut ToolObservation<'_>, name: &str) {
    if let Some(trail) = observation.result_mut()["trail"].as_array_mut() {
        trail.push(json!(name));
    }
}

fn sign(response: &mut FinalResponse<'_>, name: &str) {
    let signed = format!("{} {name}", response.text().unwrap_or_default());
    response.set_text(signed);
}

#[tokio::test]
async fn s1_each_stage_runs_at_its_place_with_its_own_input() -> Tested {
    for path in Path::ALL {
        let (log, model) = (Log::new(), one_call());
        let (before, after, end) = (log.clone(), log.clone(), log.clone());
        let agent = agent_once(&model)
            .dyn_tool(search_tool())
            .before_model("b", move |request: &mut ModelRequest<'_>| before.add(format!("model {}", request.step())))
            .after_tool("a", move |observation: &mut ToolObservation<'_>| {
                after.add(format!("tool {}", observation.tool()));
            })
            .before_complete("c", move |response: &mut FinalResponse<'_>| {
                end.add(format!("complete {}", response.text().unwrap_or_default()));
            })
            .build()?;
        path.run(&agent, "go").await.result?;
        assert_eq!(log.lines(), ["model 1", "tool search", "model 2", "complete found"], "{path:?}");
    }
    Ok(())
}

async fn second_model(request: &mut ModelRequest<'_>) {
    tokio::task::yield_now().await;
    request.history().append_system("two");
}

async fn second_tool(observation: &mut ToolObservation<'_>) -> Result<(), Boom> {
    tokio::time::sleep(Duration::from_millis(2)).await;
    leave(observation, "two");
    Ok(())
}

async fn second_complete(response: &mut FinalResponse<'_>) {
    tokio::task::yield_now().await;
    sign(response, "two");
}

/// Three hooks a stage, the middle one async, in a group of their own.
fn group() -> AgentHooks<NoState> {
    AgentHooks::new()
        .before_model("one", |request: &mut ModelRequest<'_>| request.history().append_system("one"))
        .before_model("two", second_model)
        .before_model("three", |request: &mut ModelRequest<'_>| request.history().append_system("three"))
        .after_tool("one", |observation: &mut ToolObservation<'_>| leave(observation, "one"))
        .after_tool("two", second_tool)
        .after_tool("three", |observation: &mut ToolObservation<'_>| leave(observation, "three"))
        .before_complete("one", |response: &mut FinalResponse<'_>| sign(response, "one"))
        .before_complete("two", second_complete)
        .before_complete("three", |response: &mut FinalResponse<'_>| sign(response, "three"))
}

#[tokio::test]
async fn s2_hooks_run_in_order_of_registration_and_never_side_by_side() -> Tested {
    for path in Path::ALL {
        let model = one_call();
        let agent = agent(&model)
            .dyn_tool(search_tool())
            .before_model("first", |request: &mut ModelRequest<'_>| request.history().append_system("zero"))
            .group(group())
            .before_model("last", |request: &mut ModelRequest<'_>| request.history().append_system("four"))
            .build()?;
        let answer = path.run(&agent, "go").await.result?;
        assert_eq!(answer.text(), "found one two three", "{path:?}");
        let request = &model.requests()[1];
        assert_eq!(request.system, "zero\n\none\n\ntwo\n\nthree\n\nfour", "a group keeps its place, {path:?}");
        assert!(sent(request)[1].ends_with(r#"= {"trail":["one","two","three"]}"#), "{path:?}: {:?}", sent(request));
    }
    Ok(())
}

#[tokio::test]
async fn s2_an_async_hook_is_finished_before_the_next_begins() -> Tested {
    let log = Log::new();
    let (slow, quick) = (log.clone(), log.clone());
    let model = ScriptedModel::new([Reply::text("done")]);
    let agent = agent_once(&model)
        .before_model("slow", move |_: &mut ModelRequest<'_>| -> BoxFuture<'static, ()> {
            let log = slow.clone();
            Box::pin(async move {
                log.add("slow begins");
                tokio::time::sleep(Duration::from_millis(5)).await;
                log.add("slow ends");
            })
        })
        .before_model("quick", move |_: &mut ModelRequest<'_>| quick.add("quick"))
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(log.lines(), ["slow begins", "slow ends", "quick"]);
    Ok(())
}

#[tokio::test]
async fn s3_sync_and_async_hooks_mix_in_every_stage() -> Tested {
    // The order of the mixture is what `s2` shows; here the mixture also fails alike.
    async fn refuse_late(request: &mut ModelRequest<'_>) -> Result<(), Boom> {
        tokio::task::yield_now().await;
        if request.step() == 2 { Err(Boom("async")) } else { Ok(()) }
    }
    let model = one_call();
    let agent = agent(&model)
        .dyn_tool(search_tool())
        .before_model("sync", |request: &mut ModelRequest<'_>| request.history().append_system("sync"))
        .before_model("async", refuse_late)
        .build()?;
    let Err(Error::Hook { source, hook, step, .. }) = agent.invoke("go").await else { panic!("it fails") };
    assert_eq!((hook.as_str(), step, source.downcast_ref()), ("async", 2, Some(&Boom("async"))));
    Ok(())
}

#[test]
fn s3_a_sync_hook_needs_no_runtime_and_is_not_boxed() {
    use protolink::testing::RequestFixture;
    // A sync hook is called where it stands: nothing is polled, nothing awaited.
    let mut fixture = RequestFixture::new().user("hello");
    fixture.with(|request| request.history().append_system("now"));
    assert_eq!(fixture.system_text(), "now");
}

#[tokio::test]
async fn s4_a_hook_may_fail_with_any_kind_of_error() -> Tested {
    let model = ScriptedModel::from_fn(|_| Reply::text("done"));
    let own = agent(&model).before_complete("own", |_: &mut FinalResponse<'_>| Err::<(), _>(Boom("own"))).build()?;
    let text = agent(&model)
        .before_complete("text", |_: &mut FinalResponse<'_>| Err::<(), _>(String::from("text")))
        .build()?;
    let word = agent(&model).before_complete("word", |_: &mut FinalResponse<'_>| Err::<(), _>("word")).build()?;
    let boxed = agent(&model)
        .before_complete("boxed", |_: &mut FinalResponse<'_>| -> Result<(), BoxError> { Err(Boom("boxed").into()) })
        .build()?;
    let unit = agent(&model).before_complete("unit", |_: &mut FinalResponse<'_>| ()).build()?;
    for (agent, expected) in [(own, "boom at own"), (text, "text"), (word, "word"), (boxed, "boom at boxed")] {
        let Err(Error::Hook { source, .. }) = agent.invoke("go").await else { panic!("{expected} fails the run") };
        assert_eq!(source.to_string(), expected);
    }
    assert_eq!(unit.invoke("go").await?.text(), "done");
    Ok(())
}

/// An agent whose hook of `stage` fails, with a second hook of each stage that must not run any more.
fn failing_at(stage: Stage, is_async: bool, model: &ScriptedModel, after: &Counter) -> Agent {
    async fn late_model(request: &mut ModelRequest<'_>) -> Result<(), Boom> {
        request.history().push(Message::user("half"));
        request.tools().retain(|_| false);
        tokio::task::yield_now().await;
        Err(Boom("before_model"))
    }
    async fn late_tool(observation: &mut ToolObservation<'_>) -> Result<(), Boom> {
        *observation.result_mut() = json!("half");
        tokio::task::yield_now().await;
        Err(Boom("after_tool"))
    }
    async fn late_complete(response: &mut FinalResponse<'_>) -> Result<(), Boom> {
        response.set_text("half");
        tokio::task::yield_now().await;
        Err(Boom("before_complete"))
    }
    let builder = agent(model).dyn_tool(search_tool());
    let (counted, then) = (after.clone(), after.clone());
    let builder = match (stage, is_async) {
        (Stage::BeforeModel, true) => builder.before_model("fails", late_model),
        (Stage::BeforeModel, false) => builder.before_model("fails", |request: &mut ModelRequest<'_>| {
            request.history().push(Message::user("half"));
            Err::<(), _>(Boom("before_model"))
        }),
        (Stage::AfterTool, true) => builder.after_tool("fails", late_tool),
        (Stage::AfterTool, false) => builder.after_tool("fails", |observation: &mut ToolObservation<'_>| {
            *observation.result_mut() = json!("half");
            Err::<(), _>(Boom("after_tool"))
        }),
        (Stage::BeforeComplete, true) => builder.before_complete("fails", late_complete),
        (Stage::BeforeComplete, false) => builder.before_complete("fails", |response: &mut FinalResponse<'_>| {
            response.set_text("half");
            Err::<(), _>(Boom("before_complete"))
        }),
    };
    let builder = match stage {
        Stage::BeforeModel => builder.before_model("later", move |_: &mut ModelRequest<'_>| counted.up()),
        Stage::AfterTool => builder.after_tool("later", move |_: &mut ToolObservation<'_>| counted.up()),
        Stage::BeforeComplete => builder,
    };
    builder.before_complete("end", move |_: &mut FinalResponse<'_>| then.up()).build().expect("it builds")
}

#[tokio::test]
async fn s5_a_failing_hook_stops_the_run_on_every_path() {
    for (stage, requests) in [(Stage::BeforeModel, 0), (Stage::AfterTool, 1), (Stage::BeforeComplete, 2)] {
        for (path, is_async) in Path::ALL.into_iter().flat_map(|path| [(path, false), (path, true)]) {
            let (model, after) = (one_call(), Counter::new());
            let agent = failing_at(stage, is_async, &model, &after);
            let ended = path.run(&agent, "go").await;
            let Err(Error::Hook { stage: at, hook, source, .. }) = ended.result else {
                panic!("{stage} on {path:?}: {:?}", ended.result)
            };
            assert_eq!((at, hook.as_str()), (stage, "fails"));
            assert_eq!(source.downcast_ref::<Boom>().map(|boom| boom.0), Some(stage.as_str()));
            assert_eq!(after.get(), 0, "no later hook runs: {stage} on {path:?}");
            assert_eq!(model.request_count(), requests, "no later request is made: {stage} on {path:?}");
            let finals = ended.events.iter().filter(|event| matches!(event, RunEvent::Completed(_))).count();
            assert_eq!(finals, 0, "no final event: {stage} on {path:?}");
        }
    }
}

#[tokio::test]
async fn s5_nothing_of_a_failed_hooks_own_edits_is_kept() -> Tested {
    for stage in [Stage::BeforeModel, Stage::AfterTool, Stage::BeforeComplete] {
        for is_async in [false, true] {
            let agent = failing_at(stage, is_async, &one_call(), &Counter::new());
            let mut conversation = agent.conversation();
            conversation.invoke("go").await.expect_err("the hook fails");
            let lines = said(conversation.messages());
            assert!(!lines.join("\n").contains("half"), "{stage}: {lines:?}");
            assert_eq!(lines[0], "user: go");
            assert_paired(conversation.messages());
        }
    }
    Ok(())
}

#[tokio::test]
async fn s5_a_panic_in_a_hook_ends_the_run_and_the_agent_stays_usable() -> Tested {
    async fn late(request: &mut ModelRequest<'_>) {
        tokio::task::yield_now().await;
        assert!(request.context().get("calm").is_some(), "late panic");
    }
    let model = ScriptedModel::from_fn(|_| Reply::text("done"));
    let sync = agent(&model)
        .before_model("panics", |request: &mut ModelRequest<'_>| {
            assert!(request.context().get("calm").is_some(), "sync panic");
        })
        .build()?;
    let later = agent(&model).before_model("panics", late).build()?;
    for (agent, message) in [(sync, "sync panic"), (later, "late panic")] {
        let Err(Error::Hook { source, stage, step, .. }) = agent.invoke("go").await else { panic!("it fails") };
        let panicked = source.downcast_ref::<HookPanicked>().map(|panicked| panicked.message.as_str());
        assert_eq!((panicked, stage, step), (Some(message), Stage::BeforeModel, 1));
        assert!(source.to_string().contains("panicked"));
        let outcome = agent.run("again").context("calm", true).await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("done"));
    }
    Ok(())
}

#[tokio::test]
async fn s6_closures_and_plain_functions_are_hooks_without_a_fingerprint() -> Tested {
    fn plain(request: &mut ModelRequest<'_>) {
        request.history().append_system("plain");
    }
    let model = ScriptedModel::new([Reply::text("done")]);
    let built = agent(&model)
        .before_model("plain", plain)
        .before_model("two", second_model)
        .before_complete("closure", |response: &mut FinalResponse<'_>| response.set_text("changed"))
        .build()?;
    assert_eq!(built.invoke("go").await?.text(), "changed");
    assert_eq!(model.requests()[0].system, "plain\n\ntwo");
    let config = built.config();
    let named: Vec<_> = config.hooks.iter().map(|hook| (hook.name.as_str(), hook.fingerprint)).collect();
    assert_eq!(named, [("plain", None), ("two", None), ("closure", None)]);
    let hooks = built.fingerprint().parts().iter().filter(|part| part.kind != protolink::PartKind::Setting);
    assert!(hooks.into_iter().all(|part| part.without_source), "the fingerprint says that it covers no source");
    Ok(())
}

#[tokio::test]
async fn s7_cancelling_drops_the_hook_where_it_waits_and_no_later_stage_runs() -> Tested {
    struct Dropped(Log);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.add("dropped");
        }
    }
    let (log, model) = (Log::new(), ScriptedModel::new([Reply::text("never")]));
    let (waits, later) = (log.clone(), log.clone());
    let agent = agent(&model)
        .before_model("waits", move |_: &mut ModelRequest<'_>| -> BoxFuture<'static, ()> {
            let log = waits.clone();
            Box::pin(async move {
                let _guard = Dropped(log.clone());
                log.add("waits");
                std::future::pending::<()>().await;
            })
        })
        .before_complete("later", move |_: &mut FinalResponse<'_>| later.add("later"))
        .build()?;
    let token = CancellationToken::new();
    let run = agent.run("go").cancel(token.clone()).start();
    while log.lines().is_empty() {
        tokio::task::yield_now().await;
    }
    token.cancel();
    assert!(matches!(run.result().await, Err(Error::Cancelled { step: 1, .. })));
    assert_eq!(log.take(), ["waits", "dropped"]);

    // The handle cancels as the token does.
    let run = agent.run("go").start();
    while log.lines().is_empty() {
        tokio::task::yield_now().await;
    }
    run.cancel();
    assert!(matches!(run.result().await, Err(Error::Cancelled { .. })));
    assert_eq!(log.take(), ["waits", "dropped"]);

    // Dropping the stream drops the hook.
    let mut stream = agent.run("go").stream();
    let read = tokio::time::timeout(Duration::from_millis(10), async { while stream.next().await.is_some() {} }).await;
    assert!(read.is_err(), "the run waits");
    drop(stream);
    assert_eq!(log.take(), ["waits", "dropped"]);
    assert_eq!(model.request_count(), 0);
    Ok(())
}

#[tokio::test]
async fn s7_a_run_that_is_cancelled_from_within_runs_no_later_stage() -> Tested {
    for stage in [Stage::BeforeModel, Stage::AfterTool, Stage::BeforeComplete] {
        let (token, log, model) = (CancellationToken::new(), Log::new(), one_call());
        let cancel = move |here: Stage, token: &CancellationToken, log: &Log| {
            log.add(here.as_str());
            if here == stage {
                token.cancel();
            }
        };
        let (t1, t2, t3) = (token.clone(), token.clone(), token.clone());
        let (l1, l2, l3) = (log.clone(), log.clone(), log.clone());
        let agent = agent(&model)
            .dyn_tool(search_tool())
            .before_model("b", move |_: &mut ModelRequest<'_>| cancel(Stage::BeforeModel, &t1, &l1))
            .after_tool("a", move |_: &mut ToolObservation<'_>| cancel(Stage::AfterTool, &t2, &l2))
            .before_complete("c", move |_: &mut FinalResponse<'_>| cancel(Stage::BeforeComplete, &t3, &l3))
            .build()?;
        let ended = drain(agent.run("go").cancel(token).stream()).await;
        assert!(matches!(ended.result, Err(Error::Cancelled { .. })), "{stage}: {:?}", ended.result);
        assert_eq!(log.lines().last().map(String::as_str), Some(stage.as_str()), "nothing runs after it");
        let requests = match stage {
            Stage::BeforeModel => 0,
            Stage::AfterTool => 1,
            Stage::BeforeComplete => 2,
        };
        assert_eq!(model.request_count(), requests, "the model is not asked after {stage}");
    }
    Ok(())
}

#[tokio::test]
async fn s7_a_tool_that_ends_after_the_cancellation_is_not_observed() -> Tested {
    let (token, log, model) = (CancellationToken::new(), Log::new(), one_call());
    let (cancel, seen) = (token.clone(), log.clone());
    let tool = protolink::DynTool::new("search", "", json!({ "type": "object" }), move |_, _| {
        cancel.cancel();
        async { Ok::<_, ToolError>(json!("done")) }
    });
    let agent = agent(&model)
        .dyn_tool(tool)
        .after_tool("a", move |_: &mut ToolObservation<'_>| seen.add("after_tool"))
        .build()?;
    let mut conversation = agent.conversation();
    let result = conversation.run("go").cancel(token).await;
    assert!(matches!(result, Err(Error::Cancelled { .. })), "{result:?}");
    assert!(log.lines().is_empty(), "no later stage runs");
    // It is on record as done, and what it gave is not shown unshaped.
    let outcome = &conversation.messages()[1].calls()[0].outcome;
    assert!(matches!(outcome, ToolOutcome::Withheld { .. }), "{outcome:?}");
    Ok(())
}

#[tokio::test]
async fn s8_a_direct_call_runs_no_hooks_and_keeps_policy_and_budget() -> Tested {
    let (effects, hooks, model) = (Counter::new(), Counter::new(), ScriptedModel::new([]));
    let hooked = |builder: protolink::AgentBuilder| {
        let (one, two, three) = (hooks.clone(), hooks.clone(), hooks.clone());
        builder
            .dyn_tool(effect("pay", &effects))
            .before_model("b", move |_: &mut ModelRequest<'_>| one.up())
            .after_tool("a", move |_: &mut ToolObservation<'_>| two.up())
            .before_complete("c", move |_: &mut FinalResponse<'_>| three.up())
            .build()
    };
    let free = hooked(agent(&model))?;
    assert_eq!(free.call_tool("pay", json!({})).await?, json!({ "count": 1 }));
    assert_eq!(free.call_tool("pay", Value::Null).await?, json!({ "count": 2 }), "no arguments are an empty object");

    let denied = hooked(agent(&model).policy(CapabilityPolicy::new().deny("pay")))?;
    assert!(matches!(denied.call_tool("pay", json!({})).await, Err(Error::CallRefused { .. })));
    let poor = hooked(agent(&model).budget(Budget::new().max_tool_calls(0)))?;
    assert!(matches!(poor.call_tool("pay", json!({})).await, Err(Error::Budget { .. })));
    let asked = hooked(agent(&model).policy(CapabilityPolicy::new().require_approval("pay")))?;
    assert!(matches!(asked.call_tool("pay", json!({})).await, Err(Error::ApprovalUnavailable { .. })));
    assert!(matches!(free.call_tool("nope", json!({})).await, Err(Error::UnknownTool { .. })));

    assert_eq!((effects.get(), hooks.get(), model.request_count()), (2, 0, 0));
    Ok(())
}

#[tokio::test]
async fn s8_a_direct_call_is_a_run_of_its_own_with_receipt_and_pause() -> Tested {
    use protolink::durable::{MemoryStore, RunStore};
    let (effects, store) = (Counter::new(), MemoryStore::new());
    let agent = agent(&ScriptedModel::new([]))
        .dyn_tool(effect("pay", &effects))
        .policy(CapabilityPolicy::new().require_approval("pay"))
        .durable(store.clone())
        .build()?;
    let Err(Error::Interrupted(waits)) = agent.call_tool("pay", json!({ "cents": 5 })).await else {
        panic!("it waits for approval")
    };
    assert_eq!((waits.tool(), waits.arguments()), (Some("pay"), Some(&json!({ "cents": 5 }))));
    assert_eq!(effects.get(), 0);
    let outcome = agent.resume(&waits.run_id).approve(&waits).await?;
    assert_eq!(outcome.answer().map(Answer::content), Some(&json!({ "count": 1 })));
    let rows = store.load(&waits.run_id).await?.rows;
    assert!(rows.iter().any(|row| row.payload.contains("receipted")), "the receipt is committed");
    Ok(())
}

#[tokio::test]
async fn s11_a_hook_may_run_another_agent_whose_steps_are_its_own() -> Tested {
    let inner_model = ScriptedModel::from_fn(|_| Reply::chunks(["in", "ner"]).usage(100, 7));
    let inner = agent(&inner_model).build()?;
    let model = ScriptedModel::new([Reply::chunks(["out", "er"]).usage(10, 1)]);
    let outer = agent(&model)
        .before_model("asks", move |_: &mut ModelRequest<'_>| -> BoxFuture<'static, Result<(), Error>> {
            let inner = inner.clone();
            Box::pin(async move {
                let answer = inner.invoke("sub").await?;
                assert_eq!((answer.text(), answer.usage().total(), answer.steps()), ("inner", 107, 1));
                Ok(())
            })
        })
        .build()?;
    let ended = drain(outer.run("go").stream()).await;
    let answer = ended.result?;
    assert_eq!((answer.text(), answer.usage().total(), answer.steps()), ("outer", 11, 1));
    let shown: String = ended
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::TextDelta { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(shown, "outer", "the inner chunks are not the outer run's");
    Ok(())
}

#[derive(Clone)]
struct Prefix(&'static str);

#[derive(Clone, FromRef)]
struct App {
    prefix: Prefix,
    log: Log,
}

#[before_model]
fn annotated(request: &mut ModelRequest<'_>, State(prefix): State<Prefix>) {
    request.history().append_system(prefix.0);
}

#[after_tool]
async fn annotated_tool(observation: &mut ToolObservation<'_>, State(log): State<Log>) -> Result<(), Boom> {
    tokio::task::yield_now().await;
    log.add(format!("after {}", observation.tool()));
    Ok(())
}

#[before_complete]
fn annotated_end(response: &mut FinalResponse<'_>, State(prefix): State<Prefix>, State(log): State<Log>) {
    log.add("end");
    response.set_text(format!("{}{}", prefix.0, response.text().unwrap_or_default()));
}

#[hook_module]
mod house_rules {
    use super::{BoxError, FinalResponse, ModelRequest, before_complete, before_model};

    #[before_model]
    pub(super) fn zebra(request: &mut ModelRequest<'_>) {
        request.history().append_system("zebra");
    }

    #[before_model]
    pub(super) async fn ant(request: &mut ModelRequest<'_>) -> Result<(), BoxError> {
        tokio::task::yield_now().await;
        request.history().append_system("ant");
        Ok(())
    }

    #[before_complete]
    pub(super) fn stamp(response: &mut FinalResponse<'_>) {
        let stamped = format!("{}.", response.text().unwrap_or_default());
        response.set_text(stamped);
    }
}

#[tokio::test]
async fn s2_a_module_of_hooks_keeps_the_order_of_its_source() -> Tested {
    let model = ScriptedModel::new([Reply::text("done")]);
    let app = App { prefix: Prefix("middle"), log: Log::new() };
    let agent = agent(&model)
        .state(app)
        .before_model("first", |request: &mut ModelRequest<'_>| request.history().append_system("first"))
        .hooks(house_rules::hooks)
        .hooks(hooks![annotated])
        .build()?;
    assert_eq!(agent.invoke("go").await?.text(), "done.");
    assert_eq!(model.requests()[0].system, "first\n\nzebra\n\nant\n\nmiddle");
    Ok(())
}

#[tokio::test]
async fn s6_an_annotated_function_is_registered_by_its_name_and_has_a_fingerprint() -> Tested {
    for listed in [true, false] {
        let (log, model) = (Log::new(), one_call());
        let builder =
            agent_once(&model).state(App { prefix: Prefix("so: "), log: log.clone() }).dyn_tool(search_tool());
        let agent = if listed {
            builder.hooks(hooks![annotated, annotated_tool, annotated_end]).build()?
        } else {
            builder.hook(annotated {}).hook(annotated_tool {}).hook(annotated_end {}).build()?
        };
        assert_eq!(agent.invoke("go").await?.text(), "so: found");
        assert_eq!(log.lines(), ["after search", "end"]);
        assert!(agent.config().hooks.iter().all(|hook| hook.fingerprint.is_some()));
        assert!(!agent.fingerprint().parts().iter().any(|part| part.without_source));
    }
    Ok(())
}

#[before_model(timeout = "10ms")]
async fn hangs(_: &mut ModelRequest<'_>) {
    std::future::pending::<()>().await;
}

#[after_tool(timeout = "10ms")]
async fn hangs_after(_: &mut ToolObservation<'_>) {
    std::future::pending::<()>().await;
}

#[before_complete(timeout = "10ms")]
async fn hangs_at_the_end(_: &mut FinalResponse<'_>) {
    std::future::pending::<()>().await;
}

#[before_complete(timeout = "10s")]
async fn in_time(response: &mut FinalResponse<'_>) {
    tokio::time::sleep(Duration::from_millis(2)).await;
    response.set_text("in time");
}

#[tokio::test]
async fn s9_a_hook_that_passes_its_deadline_fails_the_run() -> Tested {
    let model = one_call();
    let agents = [
        (Stage::BeforeModel, agent(&model).dyn_tool(search_tool()).hooks(hooks![hangs]).build()?, "hangs"),
        (Stage::AfterTool, agent(&model).dyn_tool(search_tool()).hooks(hooks![hangs_after]).build()?, "hangs_after"),
    ];
    for (stage, agent, name) in agents {
        let Err(Error::Hook { stage: at, hook, source, .. }) = agent.invoke("go").await else { panic!("{stage}") };
        assert_eq!((at, hook.as_str()), (stage, name));
        let late = source.downcast_ref::<protolink::HookTimedOut>().map(|timed_out| timed_out.after);
        assert_eq!(late, Some(Duration::from_millis(10)));
    }
    let model = ScriptedModel::from_fn(|_| Reply::text("done"));
    let late = agent(&model).hooks(hooks![hangs_at_the_end]).build()?;
    let error = late.invoke("go").await.expect_err("it is late");
    assert!(matches!(&error, Error::Hook { stage: Stage::BeforeComplete, hook, .. } if hook == "hangs_at_the_end"));
    let punctual = agent(&model).hooks(hooks![in_time]).build()?;
    assert_eq!(punctual.invoke("go").await?.text(), "in time");
    Ok(())
}

#[test]
fn s10_an_annotated_hook_that_is_given_twice_is_refused() {
    let builder = || agent(&ScriptedModel::new([]));
    let twice = builder().hooks(hooks![hangs]).hook(hangs {}).build();
    let Err(protolink::BuildError::DuplicateHook { stage, hook }) = twice else { panic!("it is given twice") };
    assert_eq!(stage, Stage::BeforeModel);
    assert!(hook.ends_with("stages::hangs"), "{hook}");
    let in_group = builder().group(AgentHooks::new().hooks(hooks![in_time])).hooks(hooks![in_time]).build();
    assert!(matches!(in_group, Err(protolink::BuildError::DuplicateHook { .. })));
    assert!(builder().hooks(hooks![hangs, in_time]).build().is_ok());
}
