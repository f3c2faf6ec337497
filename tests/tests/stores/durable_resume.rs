//! D1 to D3, D9, D10: what is committed when, and what a resume does with it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use protolink::durable::{CallState, Page, Record, RunFilter, RunState, RunStore, StoreError};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{ActionId, AgentBuilder, CancellationToken, ContractChange, Receipt, ReceiptOutcome, ToolOutcome};
use protolink_tests::durable::{Effects, Mishap, Outcome, Place, Watched, on_both};
use serde_json::{Value, json};

/// Three steps: an effect, another, an answer.
fn script() -> ScriptedModel {
    ScriptedModel::from_fn(|request| match request.messages.iter().filter(|message| message.is_assistant()).count() {
        0 => Reply::call("pay", json!({ "cents": 1 })),
        1 => Reply::call("pay", json!({ "cents": 2 })),
        _ => Reply::text("paid"),
    })
}

fn payer(effects: &Effects) -> AgentBuilder {
    Agent::builder("payer").model(script()).dyn_tool(effects.tool("pay"))
}

#[tokio::test]
async fn d1_an_intent_is_committed_before_its_effect_and_a_receipt_before_its_hook() -> Outcome {
    on_both(async |place| {
        let store = Watched::new(place.store()?);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (in_tool, in_hook) = ((store.clone(), Arc::clone(&seen)), (store.clone(), Arc::clone(&seen)));
        let agent = Agent::builder("payer")
            .model(script())
            .dyn_tool(Effects::new().tool_that("pay", move |_| {
                let last = in_tool.0.rows().pop().unwrap_or_default();
                in_tool.1.lock().expect("no test panics here").push(("effect", last));
                async { Ok(json!("done")) }
            }))
            .after_tool("look", move |_: &mut ToolObservation<'_>| {
                let last = in_hook.0.rows().pop().unwrap_or_default();
                in_hook.1.lock().expect("no test panics here").push(("hook", last));
            })
            .durable(store.clone())
            .build()?;
        agent.invoke("pay twice").await?;
        let seen = seen.lock().expect("no test panics here").clone();
        let records: Vec<(&str, Record)> = seen
            .iter()
            .map(|(at, row)| Ok((*at, serde_json::from_str(row)?)))
            .collect::<Result<_, serde_json::Error>>()?;
        assert_eq!(records.len(), 4);
        for (at, record) in records {
            match record {
                Record::Replied(replied) if at == "effect" => assert_eq!(replied.calls[0].state, CallState::Intended),
                Record::Receipted { receipt, .. } if at == "hook" => assert_eq!(receipt.result(), Some(&json!("done"))),
                other => panic!("before the {at} this was committed: {other:?}"),
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d1_a_tool_step_is_two_commits() -> Outcome {
    on_both(async |place| {
        let store = Watched::new(place.store()?);
        let agent = payer(&Effects::new()).durable(store.clone()).build()?;
        agent.invoke("pay twice").await?;
        // The start, two tool steps of two commits, the reply that answers, the end.
        assert_eq!(store.commits(), 1 + 2 * 2 + 2);
        Ok(())
    })
    .await
}

/// Runs until nothing is in the way, as an application would that knows what its effects were.
async fn finish(agent: &Agent, run_id: &str, effects: &Effects) -> Outcome<String> {
    loop {
        match agent.resume(run_id).await {
            Ok(outcome) => return Ok(outcome.answer().ok_or("it waits for a person")?.text().to_owned()),
            Err(Error::Uncertain { action_id, .. }) => {
                let happened = effects.all().iter().any(|(_, action)| *action == action_id);
                agent.reconcile(run_id, action_id, json!({ "happened": happened })).await?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

#[tokio::test]
async fn d1_a_commit_that_fails_stops_the_run_and_nothing_happens_twice() -> Outcome {
    for at in 1..=7 {
        for place in [Place::memory(), Place::file()?] {
            let effects = Effects::new();
            let store = Watched::with_mishap(place.store()?, at, Mishap::Full);
            let agent = payer(&effects).durable(store.clone()).build()?;
            let failed = agent.run("pay twice").run_id("r").await.expect_err("a commit failed");
            assert!(matches!(failed, Error::Store(_)), "{failed:?}");
            assert_eq!(store.commits(), at, "after the failed commit there is none");
            let effects_then = effects.count("pay");
            // Commits 2 and 4 are replies: without the intent there is no effect.
            assert_eq!(effects_then, [0, 0, 1, 1, 2, 2, 2][usize::try_from(at)? - 1], "at commit {at}");
            if at == 1 {
                continue;
            }
            let agent = payer(&effects).durable(place.store()?).build()?;
            assert_eq!(finish(&agent, "r", &effects).await?, "paid");
            assert_eq!(effects.count("pay"), 2, "at commit {at}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn d2_a_run_that_dies_at_any_commit_has_no_effect_twice() -> Outcome {
    for mishap in [Mishap::DiesBefore, Mishap::DiesAfter] {
        for at in 1..=7 {
            for place in [Place::memory(), Place::file()?] {
                let effects = Effects::new();
                let store = Watched::with_mishap(place.store()?, at, mishap);
                let agent = payer(&effects).durable(store.clone()).build()?;
                let died = store.until_death(async { agent.run("pay twice").run_id("r").await }).await;
                assert!(died.is_none(), "it died at commit {at}");
                place.outlive_leases();
                let agent = payer(&effects).durable(place.store()?).build()?;
                if at == 1 && mishap == Mishap::DiesBefore {
                    let missing = agent.resume("r").await.expect_err("it never began");
                    assert!(matches!(missing, Error::Store(StoreError::NotFound { .. })), "{missing}");
                    continue;
                }
                assert_eq!(finish(&agent, "r", &effects).await?, "paid", "{mishap:?} at commit {at}");
                // Right after an intent nobody knows, so the application said that it did not happen.
                let not_done = usize::from(mishap == Mishap::DiesAfter && (at == 2 || at == 4));
                assert_eq!(effects.count("pay") + not_done, 2, "{mishap:?} at commit {at}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn d2_an_ended_run_gives_its_very_answer_without_asking_the_model() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let checked = |agent: AgentBuilder| {
            agent.before_complete("sign", |response: &mut FinalResponse<'_>| {
                response.set_text("paid, signed");
            })
        };
        // It dies between its last commit and telling anybody.
        let store = Watched::with_mishap(place.store()?, 7, Mishap::DiesAfter);
        let agent = checked(payer(&effects)).durable(store.clone()).build()?;
        assert!(store.until_death(async { agent.run("pay").run_id("r").await }).await.is_none());

        let silent = ScriptedModel::new([]);
        let agent = checked(Agent::builder("payer").model(silent.clone()).dyn_tool(effects.tool("pay")))
            .durable(place.store()?)
            .build()?;
        // Nobody waits for the lease of a dead worker to run out.
        for _ in 0..2 {
            let outcome = agent.resume("r").await?;
            assert_eq!(outcome.answer().map(Answer::text), Some("paid, signed"));
        }
        assert_eq!(silent.request_count(), 0);
        assert_eq!(effects.count("pay"), 2);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d3_an_intent_without_a_receipt_is_uncertain_until_it_is_reconciled() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let store = Watched::with_mishap(place.store()?, 3, Mishap::DiesBefore);
        let agent = payer(&effects).durable(store.clone()).build()?;
        assert!(store.until_death(async { agent.run("pay").run_id("r").await }).await.is_none());
        place.outlive_leases();

        let model = script();
        let agent = Agent::builder("payer")
            .model(model.clone())
            .dyn_tool(effects.tool("pay"))
            .durable(place.store()?)
            .build()?;
        let Err(Error::Uncertain { run_id, action_id, tool }) = agent.resume("r").await else {
            panic!("nobody knows whether it happened")
        };
        assert_eq!((run_id.as_str(), tool.as_str()), ("r", "pay"));
        // Asking again changes nothing, and neither does naming another action.
        assert!(matches!(agent.resume("r").await, Err(Error::Uncertain { .. })));
        assert!(matches!(agent.reconcile("r", "r/9/9", 1).await, Err(Error::NotResumable { .. })));
        agent.reconcile("r", &action_id, json!({ "done": 1 })).await?;
        assert!(matches!(agent.reconcile("r", &action_id, 2).await, Err(Error::NotResumable { .. })), "once is enough");

        assert_eq!(agent.resume("r").await?.answer().map(Answer::text), Some("paid"));
        assert_eq!(effects.count("pay"), 2, "one before the crash, one after");
        assert_eq!(model.requests()[0].messages[1].calls()[0].outcome.observed(), Some(&json!({ "done": 1 })));
        let receipts = receipts(&agent.journal("r").await?);
        assert!(matches!(receipts[0].outcome, ReceiptOutcome::Reconciled(_)));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d3_an_uncertain_action_can_be_said_to_have_come_to_nothing() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let store = Watched::with_mishap(place.store()?, 3, Mishap::DiesBefore);
        let agent = payer(&effects).durable(store.clone()).build()?;
        assert!(store.until_death(async { agent.run("pay").run_id("r").await }).await.is_none());
        place.outlive_leases();

        let model = script();
        let tool = effects.tool("pay");
        let agent = Agent::builder("payer").model(model.clone()).dyn_tool(tool).durable(place.store()?).build()?;
        let Err(Error::Uncertain { action_id, .. }) = agent.resume("r").await else { panic!("nobody knows") };
        let nothing_new = agent.reconcile_failed("r", &action_id, ToolError::uncertain("who knows")).await;
        assert!(matches!(nothing_new, Err(Error::NotResumable { .. })), "{nothing_new:?}");
        agent.reconcile_failed("r", &action_id, ToolError::failed("the card was declined")).await?;
        let twice = agent.reconcile_failed("r", &action_id, ToolError::rejected("no")).await;
        assert!(matches!(twice, Err(Error::NotResumable { .. })), "once is enough: {twice:?}");

        assert_eq!(agent.resume("r").await?.answer().map(Answer::text), Some("paid"));
        let told = model.requests()[0].messages[1].calls()[0].outcome.clone();
        assert_eq!(told, ToolOutcome::Failed("the card was declined".to_owned()));
        let kept = receipts(&agent.journal("r").await?)[0].outcome.clone();
        assert_eq!(kept, ReceiptOutcome::Failed("the card was declined".to_owned()));
        Ok(())
    })
    .await
}

fn receipts(records: &[Record]) -> Vec<Receipt> {
    records
        .iter()
        .filter_map(|record| match record {
            Record::Receipted { receipt, .. } => Some(receipt.clone()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn d3_an_idempotent_tool_is_called_again_under_the_same_action() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let agent = |store: Arc<dyn RunStore>| {
            Agent::builder("payer").model(script()).dyn_tool(effects.tool("pay").idempotent()).durable(store).build()
        };
        let store = Watched::with_mishap(place.store()?, 3, Mishap::DiesBefore);
        let first = agent(Arc::new(store.clone()))?;
        assert!(store.until_death(async { first.run("pay").run_id("r").await }).await.is_none());
        place.outlive_leases();
        let outcome = agent(place.store()?)?.resume("r").await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("paid"));
        let actions: Vec<ActionId> = effects.all().into_iter().map(|(_, action)| action).collect();
        assert_eq!(actions.len(), 3);
        assert_eq!(actions[0], actions[1]);
        assert_ne!(actions[1], actions[2]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d3_a_call_that_is_made_again_counts_and_a_crash_loop_ends() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let agent = |store: Arc<dyn RunStore>| {
            Agent::builder("payer")
                .model(script())
                .dyn_tool(effects.tool("pay").idempotent())
                .budget(Budget::new().max_tool_calls(3))
                .durable(store)
                .build()
        };
        // Each time it dies with the effect done and no receipt: first of a new run, then of each resume.
        for at in [3, 2, 2] {
            let store = Watched::with_mishap(place.store()?, at, Mishap::DiesBefore);
            let agent = agent(Arc::new(store.clone()))?;
            let died = store
                .until_death(async {
                    if at == 3 { agent.run("pay").run_id("r").await } else { agent.resume("r").await }
                })
                .await;
            assert!(died.is_none());
            place.outlive_leases();
        }
        assert_eq!(effects.count("pay"), 3);
        let stopped = agent(place.store()?)?.resume("r").await.expect_err("the budget holds three calls");
        assert!(matches!(stopped, Error::Budget { .. }), "{stopped:?}");
        assert_eq!(effects.count("pay"), 3);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d3_a_crash_between_two_receipts_repeats_neither() -> Outcome {
    on_both(async |place| {
        // Rows: start, reply with both intents, receipt, receipt. It dies before the second receipt.
        let effects = Effects::new();
        let agent = |store: Arc<dyn RunStore>| {
            let model = ScriptedModel::from_fn(|request| match request.messages.len() {
                1 => Reply::calls([("pay", json!({ "n": 1 })), ("send", json!({ "n": 2 }))]),
                _ => Reply::text("both"),
            });
            let tools = (effects.tool("pay"), effects.tool("send"));
            Agent::builder("payer").model(model).dyn_tool(tools.0).dyn_tool(tools.1).durable(store).build()
        };
        let store = Watched::with_mishap(place.store()?, 4, Mishap::DiesBefore);
        let first = agent(Arc::new(store.clone()))?;
        assert!(store.until_death(async { first.run("go").run_id("r").await }).await.is_none());
        place.outlive_leases();
        let second = agent(place.store()?)?;
        let records = second.journal("r").await?;
        assert_eq!(receipts(&records).len(), 1);
        assert_eq!(finish(&second, "r", &effects).await?, "both");
        assert_eq!((effects.count("pay"), effects.count("send")), (1, 1));
        let kept = receipts(&second.journal("r").await?);
        assert_eq!(kept.len(), 2);
        assert_eq!(kept[0], receipts(&records)[0]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d9_a_failing_hook_costs_nothing_twice() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let broken = payer(&effects)
            .after_tool("keep", |_: &mut ToolObservation<'_>| Err("no disk for the audit"))
            .durable(place.store()?)
            .build()?;
        let failed = broken.run("pay").run_id("r").await.expect_err("the hook fails");
        assert!(matches!(failed, Error::Hook { .. }));
        assert_eq!(effects.count("pay"), 1);
        let store = place.store()?;
        let listed = store.list(&RunFilter::new(), Page::default()).await?;
        assert_eq!(listed.runs[0].state, RunState::Failed);

        let mended = payer(&effects)
            .after_tool("keep mended", |observation: &mut ToolObservation<'_>| {
                *observation.result_mut() = json!("kept");
            })
            .durable(place.store()?)
            .build()?;
        let Err(Error::ContractChanged { changes, .. }) = mended.resume("r").await else {
            panic!("another hook is another contract")
        };
        let words: Vec<String> = changes.iter().map(ToString::to_string).collect();
        assert_eq!(words.len(), 2, "{words:?}");
        let one = changes[..1].to_vec();
        assert!(
            matches!(mended.resume("r").accept(one).await, Err(Error::ContractChanged { .. })),
            "all of them or none"
        );
        let outcome = mended.resume("r").accept(changes.clone()).await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("paid"));
        assert_eq!(effects.count("pay"), 2, "one before the failure, one after");
        let accepted: Vec<ContractChange> = mended
            .journal("r")
            .await?
            .into_iter()
            .filter_map(|record| match record {
                Record::Resumed(resumed) => Some(resumed.accepted),
                _ => None,
            })
            .flatten()
            .collect();
        assert_eq!(accepted, changes, "what was accepted is on record");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d9_calls_that_a_failure_kept_from_starting_run_when_the_run_is_resumed() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let agent = Agent::builder("payer")
            .model(ScriptedModel::from_fn(|request| match request.messages.len() {
                1 => Reply::calls([("fail", json!({})), ("pay", json!({}))]),
                _ => Reply::text("told"),
            }))
            .dyn_tool(effects.tool_that("fail", |_| async { Err(ToolError::failed("no network")) }))
            .dyn_tool(effects.tool("pay"))
            .max_parallel_tools(1)
            .durable(place.store()?)
            .build()?;
        let failed = agent.run("go").run_id("r").await.expect_err("a tool fails");
        assert!(matches!(failed, Error::Tool { .. }));
        assert_eq!((effects.count("fail"), effects.count("pay")), (1, 0), "after a failure no call starts");
        assert_eq!(agent.resume("r").await?.answer().map(Answer::text), Some("told"));
        assert_eq!((effects.count("fail"), effects.count("pay")), (1, 1));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d10_counters_go_on_over_a_resume() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let steps = Arc::new(Mutex::new(Vec::new()));
        let agent = |store: Arc<dyn RunStore>| {
            let steps = Arc::clone(&steps);
            payer(&effects)
                .before_model("count", move |request: &mut ModelRequest<'_>| {
                    steps.lock().expect("no test panics here").push(request.step());
                })
                .budget(Budget::new().max_steps(2))
                .durable(store)
                .build()
        };
        // It dies when step 2 is about to be committed: that step is made again under its number.
        let store = Watched::with_mishap(place.store()?, 4, Mishap::DiesBefore);
        let first = agent(Arc::new(store.clone()))?;
        assert!(store.until_death(async { first.run("pay").run_id("r").await }).await.is_none());
        place.outlive_leases();
        let second = agent(place.store()?)?;
        let stopped = second.resume("r").await.expect_err("two steps are all it has");
        assert!(matches!(stopped, Error::Budget { step: 2, .. }), "{stopped:?}");
        assert_eq!(*steps.lock().expect("no test panics here"), [1, 2, 2]);
        // A resume may raise what a run may spend.
        let outcome = second.resume("r").budget(Budget::new().max_steps(3)).await?;
        assert_eq!(outcome.answer().map(Answer::steps), Some(3));
        assert_eq!(*steps.lock().expect("no test panics here"), [1, 2, 2, 3]);
        assert_eq!(effects.count("pay"), 2);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d10_requests_that_a_crash_lost_count_so_that_a_crash_loop_ends() -> Outcome {
    on_both(async |place| {
        let asked = Arc::new(AtomicUsize::new(0));
        let agent = |store: Arc<dyn RunStore>| {
            let asked = Arc::clone(&asked);
            let model = ScriptedModel::from_fn(move |_| {
                asked.fetch_add(1, Ordering::SeqCst);
                Reply::text("lost")
            });
            Agent::builder("a").model(model).budget(Budget::new().max_model_calls(3)).durable(store).build()
        };
        // It dies with the reply in its hands and nothing committed, again and again.
        for round in 0..3 {
            let store = Watched::with_mishap(place.store()?, 2, Mishap::DiesBefore);
            let agent = agent(Arc::new(store.clone()))?;
            let died = store
                .until_death(async {
                    if round == 0 { agent.run("go").run_id("r").await } else { agent.resume("r").await }
                })
                .await;
            assert!(died.is_none());
            place.outlive_leases();
        }
        let stopped = agent(place.store()?)?.resume("r").await.expect_err("three requests are all it has");
        assert!(matches!(stopped, Error::Budget { .. }), "{stopped:?}");
        assert_eq!(asked.load(Ordering::SeqCst), 3);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d10_corrections_that_a_tool_asked_for_are_counted_over_a_crash() -> Outcome {
    on_both(async |place| {
        let agent = |store: Arc<dyn RunStore>| {
            Agent::builder("a")
                .model(ScriptedModel::from_fn(|_| Reply::call("refuse", json!({}))))
                .dyn_tool(Effects::new().tool_that("refuse", |_| async { Err(ToolError::rejected("not so")) }))
                .max_tool_corrections(1)
                .durable(store)
                .build()
        };
        // The receipt of the first refusal is the last that the store hears.
        let store = Watched::with_mishap(place.store()?, 3, Mishap::DiesAfter);
        let first = agent(Arc::new(store.clone()))?;
        assert!(store.until_death(async { first.run("go").run_id("r").await }).await.is_none());
        place.outlive_leases();
        let second = agent(place.store()?)?;
        let stopped = second.resume("r").await.expect_err("one correction is all it has");
        assert!(matches!(stopped, Error::ToolCorrections { step: 2, .. }), "{stopped:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d2_hook_edits_are_there_once_whenever_the_run_died() -> Outcome {
    for mishap in [Mishap::DiesBefore, Mishap::DiesAfter] {
        for at in 2..=7 {
            let place = Place::file()?;
            let effects = Effects::new();
            let agent = |store: Arc<dyn RunStore>| {
                payer(&effects)
                    .before_model("note", |request: &mut ModelRequest<'_>| {
                        let note = format!("note {}", request.step());
                        request.history().push(Message::user(note));
                    })
                    .durable(store)
                    .build()
            };
            let store = Watched::with_mishap(place.store()?, at, mishap);
            let first = agent(Arc::new(store.clone()))?;
            let mut conversation = first.conversation_id("c").await?;
            assert!(store.until_death(async { conversation.run("pay").run_id("r").await }).await.is_none());
            place.outlive_leases();
            let second = agent(place.store()?)?;
            finish(&second, "r", &effects).await?;
            let conversation = second.conversation_id("c").await?;
            let texts: Vec<&str> = conversation.messages().iter().filter_map(|message| message.text()).collect();
            assert_eq!(texts, ["pay", "note 1", "note 2", "note 3", "paid"], "{mishap:?} at commit {at}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn d3_a_dropped_run_is_a_crash_and_its_lease_is_given_back() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let hang = Arc::new(AtomicBool::new(true));
        let slow = Arc::clone(&hang);
        let agent = Agent::builder("payer")
            .model(script())
            .dyn_tool(effects.tool_that("pay", move |_| {
                let hang = slow.load(Ordering::SeqCst);
                async move {
                    if hang {
                        std::future::pending::<()>().await;
                    }
                    Ok(Value::Null)
                }
            }))
            .durable(place.store()?)
            .build()?;
        let started = async {
            while effects.count("pay") == 0 {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            ended = async { agent.run("pay").run_id("r").await } => panic!("{ended:?}"),
            () = started => {}
        }
        hang.store(false, Ordering::SeqCst);
        // No clock is moved: the lease comes back by itself.
        let mut answer = agent.resume("r").await;
        while matches!(answer, Err(Error::RunBusy { .. })) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            answer = agent.resume("r").await;
        }
        assert!(matches!(answer, Err(Error::Uncertain { .. })), "{answer:?}");
        assert_eq!(finish(&agent, "r", &effects).await?, "paid");
        assert_eq!(effects.count("pay"), 2);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d3_a_tool_that_stops_when_it_is_told_has_an_outcome() -> Outcome {
    on_both(async |place| {
        let token = CancellationToken::new();
        let cancel = token.clone();
        let tool = protolink::DynTool::new("wait", "Waits.", json!({ "type": "object" }), move |_, context| {
            cancel.cancel();
            async move {
                context.cancelled().await;
                Err::<Value, _>(ToolError::rejected("stopped before anything was done"))
            }
        });
        let agent = Agent::builder("a")
            .model(ScriptedModel::new([Reply::call("wait", json!({}))]))
            .dyn_tool(tool)
            .durable(place.store()?)
            .build()?;
        let ended = agent.run("go").run_id("r").cancel(token).await;
        assert!(matches!(ended, Err(Error::Cancelled { .. })), "{ended:?}");
        let records = agent.journal("r").await?;
        assert!(matches!(receipts(&records)[0].outcome, ReceiptOutcome::Rejected(_)));
        assert!(matches!(records.last(), Some(Record::Cancelled { .. })));
        let refused = agent.resume("r").await.expect_err("it was cancelled");
        assert!(matches!(refused, Error::NotResumable { .. }));
        Ok(())
    })
    .await
}
