//! The tools of a real MCP server, over every transport, under everything that holds for tools.

use std::process::Command;
use std::time::Duration;

use protolink::durable::MemoryStore;
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{Agent, McpError, McpTools, ToolOutcome};
use protolink_tests::mcp::Shelf;
use serde_json::{Value, json};

const NAMES: [&str; 12] =
    ["add", "die", "dotted_name", "fail", "grow", "many", "nothing", "picture", "put", "read", "refuse", "slow"];

async fn connect(shelf: &Shelf) -> McpTools {
    let (reader, writer) = shelf.serve_here();
    McpTools::connect(reader, writer).await.expect("the server is sound")
}

fn names(tools: &McpTools) -> Vec<String> {
    let mut names: Vec<String> = tools.tools().map(|tool| tool.spec().name().to_owned()).collect();
    names.sort();
    names
}

fn agent(model: ScriptedModel, tools: &McpTools) -> Agent {
    Agent::builder("librarian").model(model).dyn_tools(tools.tools()).build().expect("the agent is sound")
}

/// What a call of the tool gives the model.
async fn outcome(tools: &McpTools, tool: &str, arguments: Value) -> ToolOutcome {
    let model = ScriptedModel::new([Reply::call(tool, arguments), Reply::text("done")]);
    agent(model.clone(), tools).invoke("go").await.expect("the run goes on");
    model.requests()[1].messages.last().expect("the turn").calls()[0].outcome.clone()
}

fn server_process() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mcp-server"))
}

fn mcp_error(error: &Error) -> &McpError {
    let Error::Tool { source, .. } = error else { panic!("{error:?}") };
    source.downcast_ref::<McpError>().expect("an McpError")
}

#[tokio::test]
async fn every_transport_lists_every_page_and_calls() {
    let shelf = Shelf::new();
    let process = McpTools::child_process(server_process()).await.expect("the child process");
    let http = McpTools::http(shelf.serve_http().await.expect("a port")).await.expect("the HTTP server");
    for tools in [connect(&shelf).await, process, http] {
        assert_eq!(names(&tools), NAMES);
        assert_eq!(tools.server(), "shelf");
        let read = outcome(&tools, "read", json!({ "text": "a book" })).await;
        assert_eq!(read, ToolOutcome::Observed(json!("a book").into()));
        let sum = outcome(&tools, "add", json!({ "a": 2, "b": i64::MAX - 2 })).await;
        assert_eq!(sum, ToolOutcome::Observed(json!({ "sum": i64::MAX }).into()));
        tools.close().await;
    }
}

#[tokio::test]
async fn what_a_server_gives_is_what_the_model_sees() {
    let tools = connect(&Shelf::new()).await;
    let several =
        json!([{ "type": "text", "text": "one" }, { "type": "resource", "uri": "shelf://two", "text": "two" }]);
    assert_eq!(outcome(&tools, "many", json!({})).await, ToolOutcome::Observed(several.into()));
    assert_eq!(outcome(&tools, "nothing", json!({})).await, ToolOutcome::Observed(Value::Null.into()));
    assert_eq!(outcome(&tools, "dotted_name", json!({})).await, ToolOutcome::Observed(json!("dotted").into()));
    let failed = ToolOutcome::Failed("there is no such shelf".to_owned());
    assert_eq!(outcome(&tools, "fail", json!({})).await, failed, "an error of the tool is told to the model");
    let ToolOutcome::Rejected(reason) = outcome(&tools, "refuse", json!({})).await else { panic!("not a correction") };
    assert!(reason.contains("`text` is missing"), "{reason}");
}

#[tokio::test]
async fn an_image_is_refused_unless_the_application_says_what_becomes_of_it() {
    let tools = connect(&Shelf::new()).await;
    let ToolOutcome::Failed(told) = outcome(&tools, "picture", json!({})).await else { panic!("not refused") };
    assert!(told.contains("image") && told.contains("image/png") && !told.contains("aGk="), "{told}");

    let (reader, writer) = Shelf::new().serve_here();
    let tools = McpTools::connect(reader, writer)
        .on_media(|media| Ok(json!({ "described": format!("{} of {}", media.kind, media.media_type) })))
        .await
        .expect("the server is sound");
    let expected = json!([{ "type": "text", "text": "look" }, { "described": "image of image/png" }]);
    assert_eq!(outcome(&tools, "picture", json!({})).await, ToolOutcome::Observed(expected.into()));
}

#[tokio::test]
async fn a_prefix_and_a_filter_say_what_is_taken() {
    let (reader, writer) = Shelf::new().serve_here();
    let tools = McpTools::connect(reader, writer).prefix("lib_").filter(|name| name.starts_with('r')).await;
    let tools = tools.expect("the server is sound");
    assert_eq!(names(&tools), ["lib_read", "lib_refuse"]);
    let read = outcome(&tools, "lib_read", json!({ "text": "x" })).await;
    assert_eq!(read, ToolOutcome::Observed(json!("x").into()));
}

#[tokio::test]
async fn the_servers_own_instructions_reach_no_model() {
    let tools = connect(&Shelf::new()).await;
    let model = ScriptedModel::new([Reply::text("done")]);
    agent(model.clone(), &tools).invoke("go").await.expect("an answer");
    assert_eq!(model.requests()[0].system, "");
}

#[tokio::test]
async fn p1_policy_hooks_and_budget_hold_for_a_servers_tools() {
    let shelf = Shelf::new();
    let tools = connect(&shelf).await;
    let builder = |replies: Vec<Reply>| {
        let model = ScriptedModel::new(replies);
        let tools = tools.tools().map(|tool| if tool.spec().name() == "put" { tool.capability("write") } else { tool });
        (model.clone(), Agent::builder("librarian").model(model).dyn_tools(tools))
    };
    let put = || vec![Reply::call("put", json!({ "text": "x" })), Reply::text("done")];

    let (model, denied) = builder(put());
    let denied = denied.policy(CapabilityPolicy::new().deny("write")).build().expect("sound");
    denied.invoke("go").await.expect("the denial is a correction");
    assert!(matches!(model.requests()[1].messages[1].calls()[0].outcome, ToolOutcome::Denied(_)));

    let (model, filtered) = builder(put());
    let filtered = filtered
        .before_model("no_put", |request: &mut ModelRequest<'_>| {
            assert!(request.tools().remove_named("put"));
        })
        .build()
        .expect("sound");
    filtered.invoke("go").await.expect("the call is corrected");
    assert!(!model.requests()[0].tool_names().contains(&"put"));
    assert!(matches!(model.requests()[1].messages[1].calls()[0].outcome, ToolOutcome::Rejected(_)));

    let (_, poor) = builder(put());
    let poor = poor.budget(Budget::new().max_tool_calls(0)).build().expect("sound");
    assert!(matches!(poor.invoke("go").await, Err(Error::Budget { .. })));
    assert_eq!(shelf.puts(), 0, "nothing of this was run");

    let (model, shaped) = builder(vec![Reply::call("read", json!({ "text": "secret" })), Reply::text("done")]);
    let shaped = shaped
        .after_tool("redact", |observation: &mut ToolObservation<'_>| *observation.result_mut() = json!("[redacted]"))
        .before_complete("evidence", |response: &mut FinalResponse<'_>| {
            assert_eq!(response.receipts()[0].result(), Some(&json!("secret")), "the receipt keeps what happened");
        })
        .build()
        .expect("sound");
    shaped.invoke("go").await.expect("an answer");
    let seen = model.requests()[1].messages[1].calls()[0].outcome.clone();
    assert_eq!(seen, ToolOutcome::Observed(json!("[redacted]").into()));
}

#[tokio::test]
async fn a_changed_list_is_announced_and_changes_no_agent() {
    let tools = connect(&Shelf::new()).await;
    let model = ScriptedModel::new([Reply::call("grow", json!({})), Reply::call("extra", json!({})), Reply::text("-")]);
    let agent = agent(model.clone(), &tools);
    assert!(!tools.has_changed());
    agent.invoke("go").await.expect("an answer");
    tokio::time::timeout(Duration::from_secs(5), tools.changed()).await.expect("announced").expect("connected");
    assert!(tools.has_changed());
    assert!(!model.requests()[2].tool_names().contains(&"extra"), "the roster of an agent is its own");
    let extra = model.requests()[2].messages[2].calls()[0].outcome.clone();
    assert!(matches!(extra, ToolOutcome::Rejected(_)), "the server cannot name a tool into the roster: {extra:?}");

    let listed_again = tools.list_again().await.expect("the server is sound");
    assert!(!listed_again.has_changed());
    assert!(names(&listed_again).contains(&"extra".to_owned()));
    assert!(!names(&tools).contains(&"extra".to_owned()));
    assert!(
        outcome(&listed_again, "extra", json!({})).await.is_error(),
        "it is listed, and this server does not run it"
    );
}

fn durable(tools: &McpTools, store: &std::sync::Arc<MemoryStore>) -> Agent {
    // What the model was asked before the pause is in the journal: the script goes on from there.
    let model = ScriptedModel::from_fn(|request| match request.messages.len() {
        1 => Reply::call("put", json!({ "text": "x" })),
        _ => Reply::text("done"),
    });
    Agent::builder("librarian")
        .model(model)
        .dyn_tools(tools.tools().map(|tool| tool.capability("shelf")))
        .policy(CapabilityPolicy::new().require_approval("shelf"))
        .durable(std::sync::Arc::clone(store))
        .build()
        .expect("the agent is sound")
}

#[tokio::test]
async fn d5_a_tool_that_vanished_before_the_resume_is_a_contract_change_in_words() {
    let (shelf, store) = (Shelf::new(), std::sync::Arc::new(MemoryStore::new()));
    let paused = durable(&connect(&shelf).await, &store).run("go").run_id("r").await.expect("a pause");
    let interruption = paused.interruption().expect("it waits for approval").clone();

    for change in [Shelf::reword, Shelf::reshape] {
        change(&shelf);
        let changed = durable(&connect(&shelf).await, &store).resume("r").approve(&interruption).await;
        assert!(changed.expect_err("refused").to_string().contains("the tool `read` changed"));
        shelf.restore();
    }

    shelf.shrink();
    let vanished = durable(&connect(&shelf).await, &store).resume("r").approve(&interruption).await;
    assert!(vanished.expect_err("refused").to_string().contains("the tool `put` was removed"));
    assert_eq!(shelf.puts(), 0);
}

#[tokio::test]
async fn d2_a_servers_tool_runs_once_across_a_pause_and_a_new_connection() {
    let (shelf, store) = (Shelf::new(), std::sync::Arc::new(MemoryStore::new()));
    let paused = durable(&connect(&shelf).await, &store).run("go").run_id("r").await.expect("a pause");
    let interruption = paused.interruption().expect("it waits for approval").clone();
    let agent = durable(&connect(&shelf).await, &store);
    let done = agent.resume("r").approve(&interruption).await.expect("an answer");
    assert_eq!(done.answer().expect("an answer").text(), "done");
    assert_eq!(agent.resume("r").await.expect("the same answer").answer().expect("an answer").text(), "done");
    assert_eq!(shelf.puts(), 1);
}

#[tokio::test]
async fn d3_a_server_that_dies_in_a_call_leaves_it_uncertain() {
    let store = std::sync::Arc::new(MemoryStore::new());
    let build = |tools: &McpTools| {
        let model = ScriptedModel::from_fn(|request| match request.messages.len() {
            1 => Reply::calls([("read", json!({ "text": "x" })), ("die", json!({}))]),
            _ => Reply::text("done"),
        });
        let builder = Agent::builder("librarian").model(model).max_parallel_tools(1);
        builder.dyn_tools(tools.tools()).durable(std::sync::Arc::clone(&store)).build().expect("the agent is sound")
    };
    let tools = McpTools::child_process(server_process()).await.expect("the child process");
    let error = build(&tools).run("go").run_id("r").await.expect_err("the answer never came");
    assert!(matches!(mcp_error(&error), McpError::Closed { request, .. } if request == "die"), "{error:?}");

    let tools = McpTools::child_process(server_process()).await.expect("another child process");
    let agent = build(&tools);
    let Err(Error::Uncertain { action_id, tool, .. }) = agent.resume("r").await else { panic!("not uncertain") };
    assert_eq!(tool, "die");
    agent.reconcile("r", action_id, "it is dead").await.expect("uncertain, so it can be said");
    assert_eq!(agent.resume("r").await.expect("an answer").answer().expect("an answer").text(), "done");
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_uncertain_and_the_connection_lives_on() {
    let (reader, writer) = Shelf::new().serve_here();
    let tools = McpTools::connect(reader, writer).timeout(Duration::from_millis(200)).await.expect("sound");
    let model = ScriptedModel::new([Reply::call("slow", json!({}))]);
    let error = agent(model, &tools).invoke("go").await.expect_err("too slow");
    assert!(matches!(mcp_error(&error), McpError::TimedOut { request, .. } if request == "slow"), "{error:?}");
    assert_eq!(outcome(&tools, "read", json!({ "text": "x" })).await, ToolOutcome::Observed(json!("x").into()));
}

#[tokio::test]
async fn a_call_on_a_closed_connection_fails_with_a_receipt() {
    let tools = connect(&Shelf::new()).await;
    tools.close().await;
    assert!(matches!(tools.changed().await, Err(McpError::Closed { .. })));
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let events = std::sync::Arc::clone(&seen);
    let agent = Agent::builder("librarian")
        .model(ScriptedModel::new([Reply::call("read", json!({ "text": "x" }))]))
        .dyn_tools(tools.tools())
        .observer(move |event: &RunEvent| events.lock().expect("whole").push(event.clone()))
        .build()
        .expect("sound");
    let error = agent.invoke("go").await.expect_err("closed");
    assert!(matches!(mcp_error(&error), McpError::Closed { .. }), "{error:?}");
    let finished = |event: &RunEvent| matches!(event, RunEvent::ToolFinished { succeeded: false, .. });
    assert!(
        seen.lock().expect("whole").iter().any(finished),
        "nothing was sent, so it is certain that nothing happened"
    );
}

#[tokio::test]
async fn cancelling_a_run_tells_the_server() {
    let tools = connect(&Shelf::new()).await;
    let model = ScriptedModel::new([Reply::call("slow", json!({}))]);
    let handle = agent(model, &tools).run("go").start();
    tokio::time::sleep(Duration::from_millis(100)).await;
    handle.cancel();
    assert!(matches!(handle.result().await, Err(Error::Cancelled { .. })));
    assert_eq!(outcome(&tools, "read", json!({ "text": "x" })).await, ToolOutcome::Observed(json!("x").into()));
}

#[tokio::test]
async fn a_server_that_cannot_be_had_is_a_typed_error() {
    let missing = McpTools::child_process(Command::new("/nowhere/at/all")).await;
    assert!(matches!(missing, Err(McpError::Start { .. })), "{missing:?}");
    let mute = Command::new(if cfg!(windows) { "hostname" } else { "true" });
    let mute = McpTools::child_process(mute).timeout(Duration::from_secs(5)).await;
    assert!(matches!(mute, Err(McpError::Connect { .. })), "{mute:?}");
    let nobody = McpTools::http("http://127.0.0.1:9/mcp").timeout(Duration::from_secs(5)).await;
    assert!(matches!(nobody, Err(McpError::Connect { .. } | McpError::TimedOut { .. })), "{nobody:?}");
}

#[tokio::test]
async fn s8_a_servers_tool_can_be_called_outside_of_the_loop() {
    let tools = connect(&Shelf::new()).await;
    let agent = agent(ScriptedModel::new([]), &tools);
    assert_eq!(agent.call_tool("add", json!({ "a": 1, "b": 2 })).await.expect("a result"), json!({ "sum": 3 }));
    assert!(matches!(agent.call_tool("fail", json!({})).await, Err(Error::CallRefused { .. })));
}
