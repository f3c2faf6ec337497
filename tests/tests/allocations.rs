//! What is allocated, and what is not: counted by an allocator that counts (contract S3, T3).

use std::future::poll_fn;
use std::hint::black_box;
use std::task::Poll;

use allocation_counter::{AllocationInfo, measure};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentBuilder, Conversation, DynTool};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

/// Ten megabytes, and what else a run may allocate beside them.
const LARGE: u64 = 10_000_000;
const BESIDE: u64 = 20_000;

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// What a second run of this agent allocates: the first has warmed up what is made once.
fn of_a_run(runtime: &Runtime, agent: &Agent) -> AllocationInfo {
    let run = || drop(runtime.block_on(agent.invoke("go")).unwrap());
    run();
    measure(run)
}

fn answers() -> AgentBuilder {
    Agent::builder("a").model(ScriptedModel::new([Reply::text("done"), Reply::text("done")]).without_recording())
}

fn with_hooks(count: u32, register: impl Fn(AgentBuilder, String) -> AgentBuilder) -> Agent {
    (0..count).fold(answers(), |builder, number| register(builder, format!("hook {number}"))).build().unwrap()
}

fn looks(request: &mut ModelRequest<'_>) {
    black_box(request.history().len());
}

async fn looks_later(request: &mut ModelRequest<'_>) {
    let mut waited = false;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    black_box(request.history().len());
}

fn looks_at_answers(response: &mut FinalResponse<'_>) {
    black_box(response.text());
}

#[test]
fn s3_a_sync_hook_that_changes_nothing_allocates_nothing() {
    let runtime = runtime();
    let none = of_a_run(&runtime, &with_hooks(0, |builder, _| builder)).count_total;
    let prepare = of_a_run(&runtime, &with_hooks(100, |builder, name| builder.before_model(name, looks)));
    assert_eq!(prepare.count_total, none);
    let closures =
        with_hooks(100, |builder, name| builder.before_model(name, |request: &mut ModelRequest<'_>| looks(request)));
    assert_eq!(of_a_run(&runtime, &closures).count_total, none);
    let check = with_hooks(100, |builder, name| builder.before_complete(name, looks_at_answers));
    assert_eq!(of_a_run(&runtime, &check).count_total, none);
}

#[test]
fn s3_an_async_hook_allocates_once() {
    let runtime = runtime();
    let none = of_a_run(&runtime, &with_hooks(0, |builder, _| builder)).count_total;
    let hooks = with_hooks(100, |builder, name| builder.before_model(name, looks_later));
    assert!(of_a_run(&runtime, &hooks).count_total <= none + 100);
}

/// An agent whose tool gives ten megabytes.
fn gives_much(hook: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Agent {
    let calls = || [Reply::call("much", json!({})).usage(1, 1), Reply::text("done").usage(1, 1)];
    let tool = DynTool::new("much", "Gives much.", json!({ "type": "object" }), |_, _| async move {
        // `json!` would copy it.
        Ok::<_, ToolError>(Value::Object(Map::from_iter([("text".to_owned(), Value::String("z".repeat(10_000_000)))])))
    });
    let model = ScriptedModel::new(calls().into_iter().chain(calls())).without_recording();
    hook(Agent::builder("a").model(model).dyn_tool(tool)).build().unwrap()
}

#[test]
fn t3_a_result_that_is_only_read_is_not_copied() {
    let runtime = runtime();
    let none = of_a_run(&runtime, &gives_much(|builder| builder)).bytes_total;
    assert!((LARGE..LARGE + BESIDE).contains(&none), "the tool makes its result, and nobody copies it: {none}");
    let reads = gives_much(|builder| {
        builder.after_tool("reads", |observation: &mut ToolObservation<'_>| {
            black_box(observation.result()["text"].as_str());
        })
    });
    assert!(of_a_run(&runtime, &reads).bytes_total < none + BESIDE);
}

#[test]
fn t3_a_result_that_is_changed_is_copied_once() {
    let runtime = runtime();
    let none = of_a_run(&runtime, &gives_much(|builder| builder)).bytes_total;
    let changes = gives_much(|builder| {
        builder.after_tool("changes", |observation: &mut ToolObservation<'_>| {
            observation.result_mut()["seen"] = json!(true);
            observation.result_mut()["twice"] = json!(true);
        })
    });
    let copied = of_a_run(&runtime, &changes).bytes_total - none;
    assert!((LARGE..LARGE + BESIDE).contains(&copied), "{copied}");
}

/// A conversation that has made so many steps, on a model that makes `more` of them next.
fn after(runtime: &Runtime, steps: usize, more: usize) -> Conversation {
    let call = || Reply::call("look", json!({ "at": "it" })).usage(1, 1);
    let run = |steps| std::iter::repeat_with(call).take(steps).chain([Reply::text("done").usage(1, 1)]);
    let tool = DynTool::new("look", "Looks.", json!({ "type": "object" }), |_, _| async move {
        Ok::<_, ToolError>(json!({ "hits": 3 }))
    });
    let agent = Agent::builder("a")
        .model(ScriptedModel::new(run(steps).chain(run(more))).without_recording())
        .dyn_tool(tool)
        .before_model("looks", looks)
        .budget(Budget::new().max_steps(10_000))
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    runtime.block_on(conversation.invoke("go")).unwrap();
    conversation
}

#[test]
fn m6_a_step_allocates_the_same_however_long_the_history() {
    let runtime = runtime();
    let [short, long] = [10, 2_000].map(|steps| {
        let mut conversation = after(&runtime, steps, 50);
        measure(|| drop(runtime.block_on(conversation.invoke("go")).unwrap()))
    });
    // The list of messages grows now and then, and is as long as the history then.
    assert!(long.count_total.abs_diff(short.count_total) <= 20, "{short:?} {long:?}");
    assert!(long.bytes_total < short.bytes_total + 200_000, "{short:?} {long:?}");
}
