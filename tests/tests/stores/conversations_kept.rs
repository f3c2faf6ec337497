//! P6, S7 over a store: what a conversation does about runs that were dropped, and when it looks at the store again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use protolink::durable::{
    Lease, MemoryStore, NewRun, Page, Record, Row, RunFilter, RunPage, RunState, RunStore, StoreError, StoredRun,
    Timestamp,
};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{Conversation, DynTool, RunId};
use protolink_tests::durable::{Effects, Mishap, Outcome, Watched, on_both};
use protolink_tests::stores::LONG;
use serde_json::{Value, json};

fn texts(conversation: &Conversation) -> Vec<String> {
    let text = |message: &Arc<Message>| message.text().unwrap_or("(calls)").to_owned();
    conversation.messages().iter().map(text).collect()
}

fn counter() -> ScriptedModel {
    ScriptedModel::from_fn(|request| Reply::text(format!("{} messages", request.messages.len())))
}

/// Calls `pay` for the first prompt, then goes on as `then` says.
fn pays(then: Reply) -> ScriptedModel {
    ScriptedModel::from_fn(move |request| match request.messages.len() {
        1 => Reply::call("pay", json!({})),
        2 => then.clone(),
        _ => Reply::text("answered"),
    })
}

/// A tool that never returns while `hang` is set.
fn hanging(effects: &Effects, hang: &Arc<AtomicBool>) -> DynTool {
    let hang = Arc::clone(hang);
    effects.tool_that("pay", move |_| {
        let hang = hang.load(Ordering::SeqCst);
        async move {
            if hang {
                std::future::pending::<()>().await;
            }
            Ok(Value::Null)
        }
    })
}

/// Runs in the conversation until the effect is had, and drops the run there.
async fn dropped(conversation: &mut Conversation, effects: &Effects) {
    let had = async {
        while effects.count("pay") == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        ended = async { conversation.run("pay").run_id("r").await } => panic!("{ended:?}"),
        () = had => {}
    }
}

/// Takes the lease as soon as it is free.
async fn taken(store: &Arc<dyn RunStore>, run_id: &RunId) -> Result<Lease, StoreError> {
    loop {
        match store.acquire(run_id, LONG).await {
            Err(StoreError::Busy { .. }) => tokio::time::sleep(Duration::from_millis(1)).await,
            other => return other,
        }
    }
}

async fn state(store: &Arc<dyn RunStore>, run_id: &str) -> Outcome<RunState> {
    Ok(store.load(&RunId::from(run_id)).await?.summary.state)
}

#[tokio::test]
async fn p6_a_conversation_that_nobody_else_goes_on_with_is_not_read_again() -> Outcome {
    on_both(async |place| {
        let store = Watched::new(place.store()?);
        let agent = Agent::builder("a").model(counter()).durable(store.clone()).build()?;
        let mut conversation = agent.conversation_id("c").await?;
        for prompt in ["one", "two", "three"] {
            conversation.invoke(prompt).await?;
        }
        assert_eq!(store.loads(), 0, "what it knows is what the store knows");
        assert_eq!(store.lists(), 1 + 3, "one look when it is opened, and one before each run");
        let mut other = agent.conversation_id("c").await?;
        assert_eq!(store.loads(), 3);
        other.invoke("four").await?;
        assert_eq!(store.loads(), 3);
        conversation.invoke("five").await?;
        assert_eq!(store.loads(), 3 + 4, "somebody else went on with it");
        assert_eq!(texts(&conversation)[6..], ["four", "7 messages", "five", "9 messages"]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn p6_a_run_that_failed_is_not_read_again_either() -> Outcome {
    on_both(async |place| {
        let store = Watched::new(place.store()?);
        let model = ScriptedModel::new([Reply::permanent("no"), Reply::text("done")]);
        let agent = Agent::builder("a").model(model).durable(store.clone()).build()?;
        let mut conversation = agent.conversation_id("c").await?;
        assert!(conversation.invoke("one").await.is_err());
        conversation.invoke("two").await?;
        assert_eq!(store.loads(), 0);
        assert_eq!(texts(&conversation), ["one", "two", "done"]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn p6_a_failure_that_could_not_be_taken_down_is_ended_by_the_next_run() -> Outcome {
    on_both(async |place| {
        // The start, and then the failure.
        let store = Watched::with_mishap(place.store()?, 2, Mishap::Full);
        let model = ScriptedModel::new([Reply::permanent("no"), Reply::text("done")]);
        let agent = Agent::builder("a").model(model).durable(store).build()?;
        let mut conversation = agent.conversation_id("c").await?;
        let failed = conversation.run("one").run_id("r").await.expect_err("the model refuses");
        assert!(matches!(failed, Error::Model { .. }), "what happened first is what is told: {failed:?}");
        conversation.invoke("two").await?;
        assert_eq!(texts(&conversation), ["one", "two", "done"]);
        assert_eq!(state(&place.store()?, "r").await?, RunState::Cancelled);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn s7_a_dropped_run_that_another_worker_took_up_is_left_as_that_one_left_it() -> Outcome {
    on_both(async |place| {
        for (then, left) in [
            (Reply::text("paid"), RunState::Completed),
            (Reply::permanent("no"), RunState::Failed),
            (Reply::call("ask_user", json!({ "question": "Sure?" })), RunState::Paused),
        ] {
            let (effects, hang) = (Effects::new(), Arc::new(AtomicBool::new(true)));
            let name = format!("{left:?}");
            let store: Arc<dyn RunStore> = Arc::new(MemoryStore::new().with_clock(place.clock().clone()));
            let agent = Agent::builder("a")
                .model(pays(then))
                .ask_user()
                .dyn_tool(hanging(&effects, &hang))
                .durable(Arc::clone(&store))
                .build()?;
            let mut conversation = agent.conversation_id(name.as_str()).await?;
            dropped(&mut conversation, &effects).await;
            hang.store(false, Ordering::SeqCst);
            // Another worker knows what came of the effect, and goes on.
            store.release(taken(&store, &"r".into()).await?).await?;
            agent.reconcile("r", "r/1/0", json!("paid")).await?;
            let _ = agent.resume("r").await;
            assert_eq!(state(&store, "r").await?, left);
            let rows = agent.journal("r").await?.len();
            let next = conversation.invoke("go on").await;
            assert_eq!(matches!(next, Err(Error::ConversationOpen { .. })), left == RunState::Paused, "{next:?}");
            assert_eq!(state(&store, "r").await?, left);
            assert_eq!(agent.journal("r").await?.len(), rows, "nothing was written into it");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn s7_a_dropped_run_whose_lease_is_another_workers_is_in_the_way() -> Outcome {
    on_both(async |place| {
        let (effects, hang) = (Effects::new(), Arc::new(AtomicBool::new(true)));
        let store = place.store()?;
        let agent = Agent::builder("a")
            .model(pays(Reply::text("paid")))
            .dyn_tool(hanging(&effects, &hang))
            .durable(Arc::clone(&store))
            .build()?;
        let mut conversation = agent.conversation_id("c").await?;
        dropped(&mut conversation, &effects).await;
        let lease = taken(&store, &"r".into()).await?;
        let busy = conversation.invoke("go on").await.expect_err("somebody works on it");
        assert!(matches!(&busy, Error::RunBusy { run_id } if *run_id == *"r"), "{busy:?}");
        // It is given back in a moment, and that is waited for.
        let (next, released) = tokio::join!(conversation.invoke("go on"), async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            store.release(lease).await
        });
        released?;
        assert_eq!(next?.text(), "answered");
        assert!(matches!(agent.journal("r").await?.last(), Some(Record::Cancelled { .. })));
        Ok(())
    })
    .await
}

/// A store whose process stops at the creation of a run, before anything is written.
struct Stops<S>(S);

#[async_trait]
impl<S: RunStore> RunStore for Stops<S> {
    async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError> {
        if run.run_id == *"taken" {
            std::future::pending::<()>().await;
        }
        self.0.create(run, first, ttl).await
    }

    async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError> {
        self.0.acquire(run_id, ttl).await
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
        self.0.renew(lease, ttl).await
    }

    async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError> {
        self.0.append(lease, row, state).await
    }

    async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError> {
        self.0.load(run_id).await
    }

    async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError> {
        self.0.list(filter, page).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.0.release(lease).await
    }

    async fn delete(&self, run_id: &RunId) -> Result<bool, StoreError> {
        self.0.delete(run_id).await
    }

    async fn prune(&self, ended_before: Timestamp) -> Result<u64, StoreError> {
        self.0.prune(ended_before).await
    }
}

/// Begins the run "taken" in a conversation whose store stops there, and drops it.
async fn dropped_at_its_start(conversation: &mut Conversation) {
    tokio::select! {
        ended = async { conversation.run("two").run_id("taken").await } => panic!("{ended:?}"),
        () = tokio::time::sleep(Duration::from_millis(5)) => {}
    }
}

#[tokio::test]
async fn s7_a_run_of_the_same_name_is_not_the_one_that_was_dropped() -> Outcome {
    for same_conversation in [false, true] {
        let (effects, hang) = (Effects::new(), Arc::new(AtomicBool::new(true)));
        let store = MemoryStore::new();
        let stops = Agent::builder("a").model(counter()).durable(Stops(store.clone())).build()?;
        let mut conversation = stops.conversation_id("c").await?;
        let agent = Agent::builder("a")
            .model(ScriptedModel::from_fn(|request| {
                if request.messages.last().and_then(|message| message.text()) == Some("pay") {
                    Reply::call("pay", json!({}))
                } else {
                    Reply::text("answered")
                }
            }))
            .dyn_tool(hanging(&effects, &hang))
            .durable(store.clone())
            .build()?;
        dropped_at_its_start(&mut conversation).await;
        // Meanwhile a run of this name is begun elsewhere: in another conversation, or in this one after another run.
        let mut other = agent.conversation_id(if same_conversation { "c" } else { "d" }).await?;
        if same_conversation {
            other.invoke("one").await?;
        }
        tokio::select! {
            ended = async { other.run("pay").run_id("taken").await } => panic!("{ended:?}"),
            () = async { while effects.count("pay") == 0 { tokio::time::sleep(Duration::from_millis(1)).await } } => {}
        }
        let store: Arc<dyn RunStore> = Arc::new(store);
        store.release(taken(&store, &"taken".into()).await?).await?;
        let next = conversation.invoke("three").await;
        assert_eq!(matches!(next, Err(Error::ConversationOpen { .. })), same_conversation, "{next:?}");
        assert_eq!(state(&store, "taken").await?, RunState::Running, "nobody ended it");
    }
    Ok(())
}

#[tokio::test]
async fn m2_every_kind_of_edit_is_made_again_where_the_conversation_is_read() -> Outcome {
    on_both(async |place| {
        let agent = |store| {
            Agent::builder("a")
                .model(counter())
                .instructions("compiled")
                .before_model("edits", |request: &mut ModelRequest<'_>| {
                    let mut history = request.history();
                    match history.len() {
                        1 => {
                            history.insert(0, Message::user("first"));
                            history.set_system("set");
                        }
                        4 => {
                            history.remove(0);
                            history.insert(2, Message::user("third"));
                            history.edit(0, |message| message.set_text("edited"));
                            history.append_system("appended");
                        }
                        _ => history.reset_system(),
                    }
                })
                .durable(store)
                .build()
        };
        let first = agent(place.store()?)?;
        let mut conversation = first.conversation_id("c").await?;
        for prompt in ["one", "two", "three"] {
            conversation.invoke(prompt).await?;
            let read = agent(place.store()?)?.conversation_id("c").await?;
            assert_eq!(read.messages(), conversation.messages(), "after {prompt}");
        }
        assert_eq!(texts(&conversation), ["edited", "2 messages", "third", "two", "4 messages", "three", "6 messages"]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn m8_a_system_message_that_was_reset_stays_the_compiled_one() -> Outcome {
    on_both(async |place| {
        let model = counter();
        let agent = |store| {
            Agent::builder("a")
                .model(model.clone())
                .instructions("compiled")
                .before_model("edits", |request: &mut ModelRequest<'_>| {
                    let mut history = request.history();
                    match history.len() {
                        1 => history.set_system("set"),
                        3 => history.reset_system(),
                        _ => {}
                    }
                })
                .durable(store)
                .build()
        };
        for prompt in ["one", "two", "three"] {
            agent(place.store()?)?.conversation_id("c").await?.invoke(prompt).await?;
        }
        let systems: Vec<String> = model.requests().into_iter().map(|request| request.system).collect();
        assert_eq!(systems, ["set", "compiled", "compiled"]);
        Ok(())
    })
    .await
}
