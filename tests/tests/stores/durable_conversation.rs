//! M2, F3, P6, S7 over a store: what a conversation keeps from one run and one process to the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use protolink::durable::{Page, Record, RunFilter, RunStore};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentBuilder, CancellationToken, DynTool, ToolOutcome};
use protolink_tests::durable::{Effects, Mishap, Outcome, Watched, on_both};
use serde_json::{Value, json};

fn texts(conversation: &protolink::Conversation) -> Vec<String> {
    let text = |message: &Arc<Message>| message.text().unwrap_or("(calls)").to_owned();
    conversation.messages().iter().map(text).collect()
}

/// Answers with the number of messages that it was sent.
fn counter() -> ScriptedModel {
    ScriptedModel::from_fn(|request| Reply::text(format!("{} messages", request.messages.len())))
}

fn editor(model: ScriptedModel, store: Arc<dyn RunStore>) -> AgentBuilder {
    Agent::builder("editor")
        .model(model)
        .before_model("edit", |request: &mut ModelRequest<'_>| {
            let mut history = request.history();
            if history.len() > 2 {
                history.remove(0);
            }
            let last = history.len() - 1;
            history.edit(last, |message| {
                let text = message.text().unwrap_or_default().to_uppercase();
                message.set_text(text);
            });
            history.set_system("Be brief.");
        })
        .before_complete("sign", |response: &mut FinalResponse<'_>| {
            let signed = format!("{} (signed)", response.text().unwrap_or_default());
            response.set_text(signed);
        })
        .durable(store)
}

#[tokio::test]
async fn m2_hook_edits_and_transformed_answers_outlive_the_process() -> Outcome {
    on_both(async |place| {
        let model = counter();
        for (n, prompt) in ["one", "two", "three"].into_iter().enumerate() {
            // A process for each run.
            let agent = editor(model.clone(), place.store()?).build()?;
            let mut conversation = agent.conversation_id("c").await?;
            let answer = conversation.invoke(prompt).await?;
            assert!(answer.text().ends_with("(signed)"));
            let here = texts(&conversation);
            let there = texts(&agent.conversation_id("c").await?);
            assert_eq!(here, there, "what the store knows is what the process knows, after run {n}");
        }
        let agent = editor(model.clone(), place.store()?).build()?;
        let conversation = agent.conversation_id("c").await?;
        assert_eq!(texts(&conversation), ["TWO", "2 messages (signed)", "THREE", "3 messages (signed)"]);
        assert_eq!(model.requests()[2].system, "Be brief.");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn m2_a_system_message_that_a_hook_set_once_is_kept() -> Outcome {
    on_both(async |place| {
        let model = counter();
        let agent = |store: Arc<dyn RunStore>| {
            Agent::builder("a")
                .instructions("Compiled.")
                .model(model.clone())
                .before_model("once", |request: &mut ModelRequest<'_>| {
                    if request.history().len() == 1 {
                        request.history().set_system("Set once.");
                    }
                })
                .durable(store)
                .build()
        };
        agent(place.store()?)?.conversation_id("c").await?.invoke("one").await?;
        agent(place.store()?)?.conversation_id("c").await?.invoke("two").await?;
        assert_eq!(model.requests()[1].system, "Set once.");
        Ok(())
    })
    .await
}

/// Calls a tool at first, then answers.
fn calls_then_answers(tool: &'static str) -> ScriptedModel {
    ScriptedModel::from_fn(move |request| {
        let called = request.messages.iter().any(|message| !message.calls().is_empty());
        if called { Reply::text("answered") } else { Reply::call(tool, json!({})) }
    })
}

#[tokio::test]
async fn p6_a_conversation_whose_run_failed_goes_on_here_and_elsewhere_alike() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let failing = AtomicBool::new(true);
        let agent = Agent::builder("a")
            .model(calls_then_answers("pay"))
            .dyn_tool(effects.tool("pay"))
            .after_tool("redact", move |_: &mut ToolObservation<'_>| {
                if failing.swap(false, Ordering::SeqCst) { Err("the first time it fails") } else { Ok(()) }
            })
            .durable(place.store()?)
            .build()?;
        let mut conversation = agent.conversation_id("c").await?;
        let failed = conversation.run("pay").run_id("first").await.expect_err("the hook fails");
        assert!(matches!(failed, Error::Hook { .. }));
        assert_eq!(texts(&conversation), ["pay", "(calls)"]);
        let closed = &conversation.messages()[1].calls()[0].outcome;
        assert!(matches!(closed, ToolOutcome::Withheld { .. }), "the effect is told, the result is not: {closed:?}");
        assert_eq!(agent.conversation_id("c").await?.messages(), conversation.messages());
        assert_eq!(conversation.open_run(), None);

        assert_eq!(conversation.invoke("go on").await?.text(), "answered");
        assert_eq!(agent.conversation_id("c").await?.messages(), conversation.messages());
        assert_eq!(effects.count("pay"), 1);
        let late = agent.resume("first").await.expect_err("its conversation went on");
        assert!(matches!(late, Error::NotResumable { .. }), "{late:?}");
        // Ending it now changes nothing of what the later run was built on.
        agent.cancel("first").await?;
        assert_eq!(agent.conversation_id("c").await?.messages(), conversation.messages());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn p6_a_run_resumed_elsewhere_is_known_to_the_conversation() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let agent = |store: Arc<dyn RunStore>| {
            Agent::builder("a")
                .model(calls_then_answers("pay"))
                .dyn_tool(effects.tool("pay").capability("money"))
                .policy(CapabilityPolicy::new().require_approval("money"))
                .durable(store)
                .build()
        };
        let here = agent(place.store()?)?;
        let mut conversation = here.conversation_id("c").await?;
        let outcome = conversation.run("pay").run_id("first").await?;
        let asked = outcome.interruption().ok_or("it needs approval")?.clone();
        assert_eq!(conversation.open_run().map(protolink::RunId::as_str), Some("first"));
        let refused = conversation.invoke("go on").await.expect_err("it waits");
        assert!(matches!(refused, Error::ConversationOpen { .. }), "{refused:?}");
        let elsewhere = agent(place.store()?)?;
        let _ = elsewhere.resume("first").approve(&asked).await?;
        conversation.invoke("go on").await?;
        assert_eq!(texts(&conversation), ["pay", "(calls)", "answered", "go on", "answered"]);
        assert_eq!(elsewhere.conversation_id("c").await?.messages(), conversation.messages());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn p6_two_holders_of_one_conversation_lose_nothing_of_each_other() -> Outcome {
    on_both(async |place| {
        let agent = Agent::builder("a").model(counter()).durable(place.store()?).build()?;
        let mut one = agent.conversation_id("c").await?;
        let mut two = agent.conversation_id("c").await?;
        one.invoke("from one").await?;
        two.invoke("from two").await?;
        one.invoke("from one again").await?;
        let all = ["from one", "1 messages", "from two", "3 messages", "from one again", "5 messages"];
        assert_eq!(texts(&one), all);
        assert_eq!(texts(&agent.conversation_id("c").await?), all);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn p6_a_conversation_resumes_its_own_runs_only() -> Outcome {
    on_both(async |place| {
        let agent = Agent::builder("a")
            .model(ScriptedModel::from_fn(|_| Reply::call("ask_user", json!({ "question": "?" }))))
            .ask_user()
            .durable(place.store()?)
            .build()?;
        let outcome = agent.conversation_id("one").await?.run("go").run_id("r").await?;
        assert!(outcome.interruption().is_some());
        let mut other = agent.conversation_id("other").await?;
        let refused = other.resume("r").await.expect_err("it is not this conversation's");
        assert!(matches!(refused, Error::NotResumable { .. }), "{refused:?}");
        assert!(other.messages().is_empty());
        Ok(())
    })
    .await
}

/// A tool that has its effect and never returns while `hang` is set.
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

async fn once(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn s7_a_cancelled_run_is_on_record_and_its_conversation_goes_on_at_once() -> Outcome {
    on_both(async |place| {
        let (effects, hang) = (Effects::new(), Arc::new(AtomicBool::new(true)));
        let agent = Agent::builder("a")
            .model(calls_then_answers("pay"))
            .dyn_tool(hanging(&effects, &hang))
            .durable(place.store()?)
            .build()?;
        let mut conversation = agent.conversation_id("c").await?;
        let token = CancellationToken::new();
        let (ended, ()) =
            tokio::join!(async { conversation.run("pay").run_id("r").cancel(token.clone()).await }, async {
                once(|| effects.count("pay") == 1).await;
                token.cancel();
            });
        assert!(matches!(ended, Err(Error::Cancelled { .. })), "{ended:?}");
        assert!(matches!(agent.journal("r").await?.last(), Some(Record::Cancelled { .. })));
        assert_eq!(conversation.messages()[1].calls()[0].outcome, ToolOutcome::Uncertain);
        hang.store(false, Ordering::SeqCst);
        conversation.invoke("go on").await?;
        assert_eq!(texts(&conversation), ["pay", "(calls)", "go on", "answered"]);
        assert_eq!(agent.conversation_id("c").await?.messages(), conversation.messages());
        assert_eq!(effects.count("pay"), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn s7_a_dropped_run_is_ended_by_the_next_one_of_its_conversation() -> Outcome {
    on_both(async |place| {
        let (effects, hang) = (Effects::new(), Arc::new(AtomicBool::new(true)));
        let agent = Agent::builder("a")
            .model(calls_then_answers("pay"))
            .dyn_tool(hanging(&effects, &hang))
            .durable(place.store()?)
            .build()?;
        let mut conversation = agent.conversation_id("c").await?;
        tokio::select! {
            ended = async { conversation.run("pay").run_id("r").await } => panic!("{ended:?}"),
            () = once(|| effects.count("pay") == 1) => {}
        }
        assert_eq!(texts(&conversation), ["pay", "(calls)"]);
        assert_eq!(conversation.messages()[1].calls()[0].outcome, ToolOutcome::Uncertain);
        conversation.invoke("go on").await?;
        assert_eq!(texts(&conversation), ["pay", "(calls)", "go on", "answered"]);
        assert_eq!(conversation.messages()[1].calls()[0].outcome, ToolOutcome::Uncertain);
        assert!(matches!(agent.journal("r").await?.last(), Some(Record::Cancelled { .. })));
        assert_eq!(agent.conversation_id("c").await?.messages(), conversation.messages());
        assert_eq!(effects.count("pay"), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn s7_a_run_that_crashed_is_resumed_or_cancelled_before_the_next() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let agent = |store: Arc<dyn RunStore>| {
            Agent::builder("a").model(calls_then_answers("pay")).dyn_tool(effects.tool("pay")).durable(store).build()
        };
        let store = Watched::with_mishap(place.store()?, 3, Mishap::DiesBefore);
        let first = agent(Arc::new(store.clone()))?;
        let mut conversation = first.conversation_id("c").await?;
        assert!(store.until_death(async { conversation.run("pay").run_id("r").await }).await.is_none());
        let second = agent(place.store()?)?;
        let mut conversation = second.conversation_id("c").await?;
        let open = conversation.invoke("go on").await.expect_err("a run is open");
        assert!(matches!(open, Error::ConversationOpen { .. }));
        let busy = second.cancel("r").await.expect_err("its worker may still live");
        assert!(matches!(busy, Error::RunBusy { .. }), "{busy:?}");
        place.outlive_leases();
        second.cancel("r").await?;
        second.cancel("r").await?;
        conversation.invoke("go on").await?;
        assert_eq!(texts(&conversation), ["pay", "(calls)", "go on", "answered"]);
        assert_eq!(conversation.messages()[1].calls()[0].outcome, ToolOutcome::Uncertain);
        let refused = second.reconcile("r", "r/1/0", 1).await.expect_err("it was cancelled");
        assert!(matches!(refused, Error::NotResumable { .. }));
        assert_eq!(second.conversation_id("c").await?.open_run(), None);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn p6_a_run_that_never_began_leaves_no_trace() -> Outcome {
    on_both(async |place| {
        let store = Watched::with_mishap(place.store()?, 3 + 1, Mishap::Full);
        let agent = Agent::builder("a").model(counter()).durable(store).build()?;
        let mut conversation = agent.conversation_id("c").await?;
        conversation.invoke("one").await?;
        let failed = conversation.invoke("two").await.expect_err("the disk is full");
        assert!(matches!(failed, Error::Store(_)));
        assert_eq!(texts(&conversation), ["one", "1 messages"]);
        conversation.invoke("three").await?;
        assert_eq!(texts(&conversation), ["one", "1 messages", "three", "3 messages"]);
        assert_eq!(agent.conversation_id("c").await?.messages(), conversation.messages());
        // A name that is taken is refused, and whose run has it is left alone.
        let first = agent.run("alone").run_id("taken").await?;
        let refused = conversation.run("four").run_id("taken").await.expect_err("it is taken");
        assert!(matches!(refused, Error::Store(_)));
        conversation.invoke("five").await?;
        assert_eq!(agent.resume("taken").await?, first);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn f3_an_answer_that_was_not_committed_is_nowhere() -> Outcome {
    on_both(async |place| {
        let store = Watched::with_mishap(place.store()?, 3, Mishap::Full);
        let agent = Agent::builder("a").model(counter()).durable(store).build()?;
        let mut conversation = agent.conversation_id("c").await?;
        let mut stream = conversation.run("one").run_id("r").stream();
        let mut last = None;
        while let Some(item) = stream.next().await {
            assert!(!matches!(item, Ok(RunEvent::Completed(_))), "nothing is announced that is not stored");
            last = Some(item);
        }
        drop(stream);
        assert!(matches!(last, Some(Err(Error::Store(_)))));
        assert_eq!(texts(&conversation), ["one"]);
        assert_eq!(conversation.open_run().map(protolink::RunId::as_str), Some("r"));
        assert_eq!(conversation.resume("r").await?.answer().map(Answer::text), Some("1 messages"));
        assert_eq!(texts(&conversation), ["one", "1 messages"]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn f1_a_typed_answer_is_one_after_a_resume_too() -> Outcome {
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema, Debug, PartialEq)]
    struct Price {
        cents: u64,
    }
    on_both(async |place| {
        let agent = |store: Arc<dyn RunStore>| {
            Agent::builder("a")
                .model(ScriptedModel::from_fn(|_| Reply::text(r#"{"cents": 5}"#)))
                .before_complete("see", |response: &mut FinalResponse<'_>| {
                    if response.content().is_object() { Ok(()) } else { Err("the answer is not what was asked for") }
                })
                .durable(store)
                .build()
        };
        let store = Watched::with_mishap(place.store()?, 2, Mishap::DiesBefore);
        let first = agent(Arc::new(store.clone()))?;
        assert!(store.until_death(async { first.invoke_as::<Price>("how much?").await }).await.is_none());
        let listed = place.store()?.list(&RunFilter::new(), Page::default()).await?;
        let run_id = listed.runs[0].run_id.clone();
        place.outlive_leases();
        let second = agent(place.store()?)?;
        let other = second.resume(&run_id).answer_as::<Vec<u8>>().await.expect_err("another type");
        assert!(matches!(other, Error::NotResumable { .. }));
        let outcome = second.resume(&run_id).answer_as::<Price>().await?;
        assert_eq!(outcome.answer().map(Answer::content), Some(&json!({ "cents": 5 })));
        Ok(())
    })
    .await
}
