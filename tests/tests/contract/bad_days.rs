//! Bad days of a new user: each gives an answer that a person understands.
//!
//! What the compiler answers (a forgotten state, a hook that is never registered, `#[after_tool]` on a tool, `async` where
//! it does not belong) is pinned in the crate `ui-tests`.

use std::error::Error as _;

use protolink::durable::{MemoryStore, SqliteStore, StoreError};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{BuildError, DynTool};
use serde_json::json;

fn says(texts: &[&str]) -> ScriptedModel {
    ScriptedModel::new(texts.iter().map(|text| Reply::text(*text)))
}

/// A hook's own error.
#[derive(Debug, thiserror::Error)]
#[error("the catalogue is closed")]
struct Closed;

#[before_model]
fn open_the_catalogue(_request: &mut ModelRequest<'_>) -> Result<(), Closed> {
    Err(Closed)
}

#[tokio::test]
async fn blocking_inside_a_runtime_is_an_error_and_no_deadlock() {
    let agent = Agent::builder("a").model(says(&["done"])).build().unwrap();
    let error = agent.blocking().invoke("go").unwrap_err();
    assert!(matches!(error, Error::BlockingInRuntime));
    assert_eq!(error.to_string(), "`blocking()` was called inside an async runtime; use `.await` there");
}

#[test]
fn blocking_outside_of_a_runtime_works_more_than_once() {
    let agent = Agent::builder("a").model(says(&["one", "two"])).build().unwrap();
    assert_eq!(agent.blocking().invoke("go").unwrap().text(), "one");
    assert_eq!(agent.blocking().invoke("go").unwrap().text(), "two");
}

#[test]
fn a_current_thread_runtime_is_enough() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let echo = DynTool::new("echo", "Echo.", json!({ "type": "object" }), |arguments, _| async move {
        tokio::task::yield_now().await;
        Ok::<_, ToolError>(arguments)
    });
    let model = ScriptedModel::new([Reply::calls([("echo", json!({})), ("echo", json!({}))]), Reply::text("done")]);
    let agent = Agent::builder("a").model(model).dyn_tool(echo).durable(MemoryStore::new()).build().unwrap();
    let answer = runtime.block_on(async {
        let handle = agent.run("go").start();
        handle.result().await
    });
    assert_eq!(answer.unwrap().answer().unwrap().text(), "done");
}

#[test]
fn an_agent_without_a_model_says_what_to_write() {
    let error = Agent::builder("helper").build().unwrap_err();
    assert_eq!(error.to_string(), "the agent `helper` has no model; set one with `.model(..)`");
    assert!(matches!(Error::from(error), Error::Build(BuildError::NoModel { .. })));
}

#[tokio::test]
async fn both_ways_of_printing_an_error_name_the_hook_the_stage_and_the_step() {
    let agent = Agent::builder("a").model(says(&["done"])).hooks(hooks![open_the_catalogue]).build().unwrap();
    let outcome = agent.run("go").run_id("order-7").await;
    let error = outcome.unwrap_err();
    assert_eq!(error.to_string(), "the before_model hook `open_the_catalogue` failed at step 1 of run `order-7`");
    assert_eq!(error.source().unwrap().to_string(), "the catalogue is closed");
    let debug = format!("{error:?}");
    for part in ["BeforeModel", "open_the_catalogue", "step: 1", "order-7", "Closed"] {
        assert!(debug.contains(part), "{debug} does not say {part}");
    }
    match error {
        Error::Hook { source, .. } => assert!(source.downcast_ref::<Closed>().is_some()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn two_agents_on_one_sqlite_file_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runs.sqlite");
    let build = |name: &str, answer: &str| {
        let store = SqliteStore::open(&file).unwrap();
        Agent::builder(name).model(says(&[answer])).durable(store).build().unwrap()
    };
    let (one, two) = (build("one", "1"), build("two", "2"));
    let (first, second) = tokio::join!(one.invoke("go"), two.invoke("go"));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!((first.text(), second.text()), ("1", "2"));

    // A run that is over gives its answer to whoever shares the store.
    let again = two.resume(first.run_id()).await.unwrap();
    assert_eq!(again.answer().unwrap().text(), "1");
}

#[test]
fn a_file_that_cannot_be_a_store_is_a_typed_error_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let error = SqliteStore::open(folder.path().join("missing").join("runs.sqlite")).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error:?}");

    let file = folder.path().join("foreign.sqlite");
    std::fs::write(&file, "this is no database, and it is long enough to be looked at as one").unwrap();
    let error = SqliteStore::open(&file).unwrap_err();
    assert!(!error.to_string().is_empty());
    assert_eq!(std::fs::read_to_string(&file).unwrap().len(), 65, "a foreign file is left as it is");
}

#[tokio::test]
async fn a_file_that_can_only_be_read_says_so_and_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runs.sqlite");
    let build = |store| Agent::builder("a").model(says(&["done"])).durable(store).build().unwrap();
    build(SqliteStore::open(&file).unwrap()).run("go").run_id("order-7").await.unwrap().answer().unwrap();
    // What SQLite says of a file that is marked as written by one of the future is what it says of one without the
    // right to write, and holds for administrators too.
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[18] = 3;
    std::fs::write(&file, &bytes).unwrap();
    let error = Error::from(SqliteStore::open(&file).unwrap_err());
    assert!(matches!(error, Error::Store(StoreError::ReadOnly { .. })), "{error:?}");
    assert_eq!(error.to_string(), "the store is read-only");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

#[tokio::test]
async fn an_empty_id_of_a_run_is_refused_before_anything_runs() {
    let store = MemoryStore::new();
    let model = says(&["done"]);
    let agent = Agent::builder("a").model(model.clone()).durable(store.clone()).build().unwrap();
    let mut conversation = agent.conversation();
    let refused = [
        agent.run("go").run_id("").await.unwrap_err(),
        agent.run("go").run_id("").start().result().await.unwrap_err(),
        conversation.run("go").run_id("").await.unwrap_err(),
    ];
    for error in refused {
        assert!(matches!(error, Error::EmptyRunId), "{error:?}");
        assert_eq!(error.to_string(), "a run was given an empty id; leave `.run_id(..)` away for a random one");
    }
    assert!(model.requests().is_empty() && conversation.messages().is_empty());
    assert_eq!(store.commits(), 0);
    assert_eq!(conversation.invoke("go").await.unwrap().text(), "done");
}

#[tokio::test]
async fn a_forgotten_store_is_named_where_it_is_needed() {
    let agent = Agent::builder("helper").model(says(&["done"])).build().unwrap();
    let error = agent.resume("order-7").await.unwrap_err();
    assert_eq!(error.to_string(), "the agent `helper` has no store; set one with `.durable(..)`");

    let error = Agent::builder("helper").model(says(&[])).ask_user().build().unwrap_err();
    assert!(error.to_string().contains(".durable(..)"), "{error}");
}

#[tokio::test]
async fn an_approval_that_nobody_can_give_says_what_to_set() {
    let pay = DynTool::new("pay", "Pay.", json!({ "type": "object" }), |_, _| async { Ok::<_, ToolError>(json!(1)) });
    let agent = Agent::builder("a")
        .model(ScriptedModel::new([Reply::call("pay", json!({}))]))
        .dyn_tool(pay.capability("money"))
        .policy(CapabilityPolicy::new().require_approval("money"))
        .build()
        .unwrap();
    let error = agent.invoke("pay").await.unwrap_err();
    assert!(matches!(&error, Error::ApprovalUnavailable { tool, .. } if tool == "pay"));
    assert!(error.to_string().contains(".approver(..)") && error.to_string().contains(".durable(..)"), "{error}");
}
