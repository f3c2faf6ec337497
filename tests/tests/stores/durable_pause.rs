//! D4, D11, M10: runs that wait for a person, and outlive the process while they wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use protolink::durable::{CallState, Page, Record, Row, RunFilter, RunState, RunStore};
use protolink::prelude::*;
use protolink::rules::{Decision, Policy, PolicyRequest};
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentBuilder, Interruption, RunId};
use protolink_tests::durable::{Effects, Mishap, Outcome, Place, Watched, on_both};
use serde_json::{Value, json};

fn asks_once(call: Reply) -> ScriptedModel {
    ScriptedModel::from_fn(move |request| if request.messages.len() == 1 { call.clone() } else { Reply::text("done") })
}

/// An agent that pays after a person said yes.
fn clerk(effects: &Effects, model: ScriptedModel) -> AgentBuilder {
    Agent::builder("clerk")
        .model(model)
        .dyn_tool(effects.tool("pay").capability("money"))
        .dyn_tool(effects.tool("look"))
        .policy(CapabilityPolicy::new().require_approval("money"))
}

async fn waiting(agent: &Agent, run_id: &str) -> Outcome<Interruption> {
    Ok(agent.interruption(run_id).await?.ok_or("it waits for nothing")?)
}

async fn state(store: &Arc<dyn RunStore>) -> Outcome<RunState> {
    let listed = store.list(&RunFilter::new(), Page::newest(1)).await?;
    Ok(listed.runs.first().ok_or("there is no run")?.state)
}

#[tokio::test]
async fn d4_an_approval_outlives_the_process() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = asks_once(Reply::call("pay", json!({ "cents": 5 })));
        {
            let agent = clerk(&effects, model.clone()).durable(place.store()?).build()?;
            let outcome = agent.run("pay").run_id("r").await?;
            let interruption = outcome.interruption().ok_or("it needs approval")?;
            assert_eq!(interruption.tool(), Some("pay"));
            assert_eq!(interruption.arguments(), Some(&json!({ "cents": 5 })));
        }
        assert_eq!(state(&place.store()?).await?, RunState::Paused);
        let interruption = {
            let agent = clerk(&effects, model.clone()).durable(place.store()?).build()?;
            serde_json::to_string(&waiting(&agent, "r").await?)?
        };
        assert_eq!(effects.count("pay"), 0);
        let agent = clerk(&effects, model).durable(place.store()?).build()?;
        let interruption: Interruption = serde_json::from_str(&interruption)?;
        let outcome = agent.resume("r").approve(&interruption).await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("done"));
        assert_eq!(effects.count("pay"), 1);
        assert_eq!(agent.interruption("r").await?, None);
        // The same word again is late.
        assert_eq!(agent.resume("r").approve(&interruption).await?.answer().map(Answer::text), Some("done"));
        assert_eq!(effects.count("pay"), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d4_a_rejection_is_told_to_the_model() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = asks_once(Reply::call("pay", json!({})));
        let agent = clerk(&effects, model.clone()).durable(place.store()?).build()?;
        let outcome = agent.run("pay").run_id("r").await?;
        let interruption = outcome.interruption().ok_or("it needs approval")?;
        let _ = agent.resume("r").reject_because(interruption, "too dear").await?;
        assert_eq!(effects.count("pay"), 0);
        let told = model.requests()[1].messages[1].calls()[0].outcome.to_model_text();
        assert!(told.contains("too dear"), "{told}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d4_a_response_covers_one_request_and_its_exact_arguments() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = asks_once(Reply::call("pay", json!({ "cents": 9_007_199_254_740_993_u64 })));
        let agent = clerk(&effects, model).durable(place.store()?).build()?;
        let outcome = agent.run("pay").run_id("r").await?;
        let asked = outcome.interruption().ok_or("it needs approval")?.clone();
        let other = agent.run("pay").run_id("other").await?;
        let other = other.interruption().ok_or("it needs approval")?.clone();
        assert_eq!(asked.digest, other.digest, "the same call");

        let mut renamed = asked.clone();
        renamed.id = "another request".to_owned();
        let mut moved = other.clone();
        moved.run_id = RunId::from("r");
        for stale in [&other, &renamed, &moved] {
            let refused = agent.resume("r").approve(stale).await.expect_err("it is for something else");
            assert!(matches!(refused, Error::StaleResponse { .. }), "{refused:?}");
        }
        let refused = agent.resume("r").answer(&asked, "yes").await.expect_err("an answer is no approval");
        assert!(matches!(refused, Error::StaleResponse { .. }));
        assert_eq!(effects.count("pay"), 0);
        assert_eq!(state(&place.store()?).await?, RunState::Paused);
        let _ = agent.resume("r").approve(&asked).await?;
        assert_eq!(effects.count("pay"), 1);
        Ok(())
    })
    .await
}

/// Writes the rows of a run again, with one text put in place of another: sound rows that say something else.
async fn forge(store: &Arc<dyn RunStore>, run_id: &str, from: &str, to: &str) -> Outcome {
    let stored = store.load(&RunId::from(run_id)).await?;
    let run_id = stored.summary.run_id.clone();
    let mut new = protolink::durable::NewRun::new(run_id.clone(), stored.summary.agent.clone());
    new.conversation.clone_from(&stored.summary.conversation);
    store.delete(&run_id).await?;
    let ttl = std::time::Duration::from_secs(1);
    let mut rows =
        stored.rows.iter().map(|row| Row::new(&run_id, row.sequence, row.version, row.payload.replace(from, to)));
    let first = rows.next().ok_or("there are no rows")?;
    let lease = store.create(new, first, ttl).await?;
    for row in rows {
        store.append(&lease, row, stored.summary.state).await?;
    }
    Ok(store.release(lease).await?)
}

#[tokio::test]
async fn d4_arguments_that_changed_in_the_store_are_not_what_was_approved() -> Outcome {
    on_both(async |place| {
        for (from, to) in [
            (r#""cents":5"#, r#""cents":500"#),
            (r#""cents":5"#, r#""cents":5.0"#),
            (r#""name":"pay""#, r#""name":"look""#),
        ] {
            let effects = Effects::new();
            let model = asks_once(Reply::call("pay", json!({ "cents": 5 })));
            let agent = clerk(&effects, model).durable(place.store()?).build()?;
            let run_id = format!("{from} {to}");
            let outcome = agent.run("pay").run_id(&run_id).await?;
            let asked = outcome.interruption().ok_or("it needs approval")?.clone();
            forge(&place.store()?, &run_id, from, to).await?;
            let refused = agent.resume(&run_id).approve(&asked).await.expect_err("it is another call now");
            assert!(matches!(refused, Error::StaleResponse { .. }), "{refused:?}");
            assert!(effects.all().is_empty());
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d11_without_a_word_it_goes_on_waiting() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = asks_once(Reply::call("pay", json!({})));
        let agent = clerk(&effects, model.clone()).durable(place.store()?).build()?;
        let asked = agent.run("pay").run_id("r").await?;
        let rows = agent.journal("r").await?.len();
        for _ in 0..3 {
            assert_eq!(agent.resume("r").await?, asked, "the same request");
        }
        assert_eq!(agent.journal("r").await?.len(), rows, "waiting writes nothing");
        let raised = agent.resume("r").budget(Budget::new().max_steps(9)).await?;
        assert_eq!(raised, asked);
        assert_eq!(state(&place.store()?).await?, RunState::Paused);
        let silence: Option<Interruption> = serde_json::from_str("null")?;
        assert!(silence.is_none(), "a missing decision is not a response");
        assert_eq!(effects.count("pay"), 0);
        assert_eq!(model.request_count(), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d4_accepting_a_change_is_not_a_word_on_what_waits() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = asks_once(Reply::call("pay", json!({})));
        let agent = clerk(&effects, model.clone()).durable(place.store()?).build()?;
        let _ = agent.run("pay").run_id("r").await?;
        let newer = clerk(&effects, model).execution_version("2").durable(place.store()?).build()?;
        let Err(Error::ContractChanged { changes, .. }) = newer.resume("r").await else { panic!("it changed") };
        let still = newer.resume("r").accept(changes).await?;
        assert!(still.interruption().is_some());
        assert_eq!(state(&place.store()?).await?, RunState::Paused, "whoever lists what waits finds it");
        assert_eq!(effects.count("pay"), 0);
        let _ = newer.resume("r").approve(still.interruption().ok_or("it waits")?).await?;
        assert_eq!(effects.count("pay"), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d4_each_of_several_calls_waits_for_its_own_word() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let calls = Reply::calls([
            ("pay", json!({ "n": 1 })),
            ("look", json!({ "n": 2 })),
            ("pay", json!({ "n": 3 })),
            ("pay", json!({ "n": 4 })),
        ]);
        let model = asks_once(calls);
        let agent = || clerk(&effects, model.clone()).durable(place.store().expect("it opens")).build();
        let mut outcome = agent()?.run("pay").run_id("r").await?;
        let words = [true, false, true];
        for (n, yes) in [1, 3, 4].into_iter().zip(words) {
            assert!(effects.all().is_empty(), "nothing is dispatched while one waits");
            let asked = outcome.interruption().ok_or("it needs approval")?.clone();
            assert_eq!(asked.arguments(), Some(&json!({ "n": n })));
            let agent = agent()?;
            outcome =
                if yes { agent.resume("r").approve(&asked).await? } else { agent.resume("r").reject(&asked).await? };
        }
        assert_eq!(outcome.answer().map(Answer::text), Some("done"));
        assert_eq!((effects.count("pay"), effects.count("look")), (2, 1));
        let request = &model.requests()[1];
        let outcomes: Vec<bool> =
            request.messages[1].calls().iter().map(|exchange| exchange.outcome.observed().is_some()).collect();
        assert_eq!(outcomes, [true, true, false, true], "each is answered in its place");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d4_a_question_beside_other_calls_is_answered_in_its_place() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = asks_once(Reply::calls([
            ("look", json!({})),
            ("ask_user", json!({ "question": "Which colour?" })),
            ("look", json!({})),
        ]));
        let agent = || clerk(&effects, model.clone()).ask_user().durable(place.store().expect("it opens")).build();
        let outcome = agent()?.run("paint").run_id("r").await?;
        let asked = outcome.interruption().ok_or("it asks")?;
        assert_eq!(asked.question(), Some("Which colour?"));
        let refused = agent()?.resume("r").approve(asked).await.expect_err("a question is not approved");
        assert!(matches!(refused, Error::StaleResponse { .. }));
        assert!(effects.all().is_empty());
        let _ = agent()?.resume("r").answer(asked, "green").await?;
        let request = &model.requests()[1];
        let calls = request.messages[1].calls();
        assert_eq!(calls[1].outcome.observed(), Some(&json!("green")));
        assert!(calls[0].outcome.observed().is_some() && calls[2].outcome.observed().is_some());
        assert_eq!(effects.count("look"), 2);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d4_what_the_user_answered_is_evidence_after_a_resume() -> Outcome {
    on_both(async |place| {
        let model = asks_once(Reply::call("ask_user", json!({ "question": "Sure?" })));
        let agent = |store: Arc<dyn RunStore>| {
            Agent::builder("a")
                .model(model.clone())
                .ask_user()
                .before_complete("cite", |response: &mut FinalResponse<'_>| {
                    let answer = response.receipts().iter().find(|receipt| receipt.tool == "ask_user");
                    let answer = answer.and_then(|receipt| receipt.result()).and_then(Value::as_str);
                    response.set_text(format!("the user said {}", answer.unwrap_or("nothing")));
                })
                .durable(store)
                .build()
        };
        let first = agent(place.store()?)?;
        let outcome = first.run("go").run_id("r").await?;
        let asked = outcome.interruption().ok_or("it asks")?.clone();
        // The answer is committed, and the process dies before the model is asked again.
        let store = Watched::with_mishap(place.store()?, 3, Mishap::DiesBefore);
        let second = agent(Arc::new(store.clone()))?;
        assert!(store.until_death(async { second.resume("r").answer(&asked, "yes").await }).await.is_none());
        place.outlive_leases();
        let outcome = agent(place.store()?)?.resume("r").await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("the user said yes"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d4_a_question_may_need_approval_and_then_still_needs_its_answer() -> Outcome {
    struct AskFirst;
    impl Policy for AskFirst {
        fn decide(&self, _: &PolicyRequest<'_>) -> Decision {
            Decision::RequireApproval
        }
    }
    on_both(async |place| {
        let model = asks_once(Reply::call("ask_user", json!({ "question": "Sure?" })));
        let agent =
            Agent::builder("a").model(model.clone()).ask_user().policy(AskFirst).durable(place.store()?).build()?;
        let outcome = agent.run("go").run_id("r").await?;
        let approval = outcome.interruption().ok_or("it needs approval")?;
        assert_eq!(approval.tool(), Some("ask_user"));
        let outcome = agent.resume("r").approve(approval).await?;
        let question = outcome.interruption().ok_or("it asks")?;
        assert_eq!(question.question(), Some("Sure?"));
        let _ = agent.resume("r").answer(question, "yes").await?;
        assert_eq!(model.requests()[1].messages[1].calls()[0].outcome.observed(), Some(&json!("yes")));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d4_a_crash_after_the_yes_runs_the_call_once() -> Outcome {
    for mishap in [Mishap::DiesBefore, Mishap::DiesAfter] {
        // Resumed, decided, dispatched, receipt, reply, end.
        for at in 1..=6 {
            for place in [Place::memory(), Place::file()?] {
                let effects = Effects::new();
                let model = asks_once(Reply::call("pay", json!({})));
                let agent = clerk(&effects, model.clone()).durable(place.store()?).build()?;
                let asked = agent.run("pay").run_id("r").await?;
                let asked = asked.interruption().ok_or("it needs approval")?;
                let store = Watched::with_mishap(place.store()?, at, mishap);
                let agent = clerk(&effects, model.clone()).durable(store.clone()).build()?;
                let died = store.until_death(async { agent.resume("r").approve(asked).await }).await;
                assert!(died.is_none(), "it dies at commit {at}");
                place.outlive_leases();

                let agent = clerk(&effects, model.clone()).durable(place.store()?).build()?;
                let mut outcome = agent.resume("r").await;
                if let Ok(protolink::Outcome::Interrupted(still)) = &outcome {
                    // The word was not committed: it is still waited for.
                    assert!(at == 1 || (at == 2 && mishap == Mishap::DiesBefore), "{mishap:?} at {at}");
                    assert_eq!(effects.count("pay"), 0);
                    outcome = agent.resume("r").approve(still).await;
                }
                if let Err(Error::Uncertain { action_id, .. }) = &outcome {
                    let done = effects.count("pay");
                    agent.reconcile("r", action_id, json!({ "done": done })).await?;
                    outcome = agent.resume("r").await;
                }
                assert_eq!(outcome?.answer().map(Answer::text), Some("done"), "{mishap:?} at {at}");
                let unknown = usize::from(at == 3 && mishap == Mishap::DiesAfter);
                assert_eq!(effects.count("pay") + unknown, 1, "{mishap:?} at {at}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn p2_waiting_for_a_person_takes_no_time_of_the_run() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = asks_once(Reply::call("pay", json!({})));
        let limit = std::time::Duration::from_millis(400);
        let agent =
            clerk(&effects, model).budget(Budget::new().max_wall_time(limit)).durable(place.store()?).build()?;
        let asked = agent.run("pay").run_id("r").await?;
        tokio::time::sleep(limit).await;
        let outcome = agent.resume("r").approve(asked.interruption().ok_or("it needs approval")?).await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("done"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn m10_what_was_excluded_when_the_model_replied_stays_excluded() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let filter = Arc::new(AtomicBool::new(true));
        let runs = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let model = asks_once(Reply::calls([("look", json!({})), ("pay", json!({}))]));
        let agent = || {
            let (filter, runs) = (Arc::clone(&filter), Arc::clone(&runs));
            clerk(&effects, model.clone())
                .before_model("filter", move |request: &mut ModelRequest<'_>| {
                    runs.fetch_add(1, Ordering::SeqCst);
                    if filter.load(Ordering::SeqCst) {
                        request.tools().remove_named("look");
                    }
                })
                .durable(place.store().expect("it opens"))
                .build()
        };
        let outcome = agent()?.run("pay").run_id("r").await?;
        let asked = outcome.interruption().ok_or("it needs approval")?;
        assert_eq!(runs.load(Ordering::SeqCst), 1);
        // Rebuilt, the hook would admit more.
        filter.store(false, Ordering::SeqCst);
        let _ = agent()?.resume("r").approve(asked).await?;
        assert_eq!((effects.count("look"), effects.count("pay")), (0, 1));
        assert_eq!(runs.load(Ordering::SeqCst), 2, "the pending step is not prepared again");
        assert!(model.requests()[1].messages[1].calls()[0].outcome.is_error());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn m10_a_refused_call_stays_refused_after_a_crash() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let filter = Arc::new(AtomicBool::new(true));
        let model = asks_once(Reply::call("look", json!({})));
        let agent = |store: Arc<dyn RunStore>| {
            let filter = Arc::clone(&filter);
            clerk(&effects, model.clone())
                .before_model("filter", move |request: &mut ModelRequest<'_>| {
                    if filter.load(Ordering::SeqCst) {
                        request.tools().retain(|_| false);
                    }
                })
                .durable(store)
                .build()
        };
        // The reply was saved, and that is all.
        let store = Watched::with_mishap(place.store()?, 2, Mishap::DiesAfter);
        let first = agent(Arc::new(store.clone()))?;
        assert!(store.until_death(async { first.run("look").run_id("r").await }).await.is_none());
        place.outlive_leases();
        filter.store(false, Ordering::SeqCst);
        assert_eq!(agent(place.store()?)?.resume("r").await?.answer().map(Answer::text), Some("done"));
        assert_eq!(effects.count("look"), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn p1_a_policy_that_denies_since_is_the_authority_when_the_run_goes_on() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = asks_once(Reply::call("pay", json!({})));
        let agent = clerk(&effects, model.clone()).durable(place.store()?).build()?;
        let asked = agent.run("pay").run_id("r").await?;
        let stricter = clerk(&effects, model.clone())
            .policy(CapabilityPolicy::new().deny("money"))
            .durable(place.store()?)
            .build()?;
        let outcome = stricter.resume("r").approve(asked.interruption().ok_or("it needs approval")?).await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("done"));
        assert_eq!(effects.count("pay"), 0);
        assert!(model.requests()[1].messages[1].calls()[0].outcome.to_model_text().contains("denied"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn m9_a_tool_that_is_gone_is_refused_when_the_run_goes_on() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = asks_once(Reply::call("pay", json!({})));
        let agent = clerk(&effects, model.clone()).durable(place.store()?).build()?;
        let asked = agent.run("pay").run_id("r").await?;
        let without = Agent::builder("clerk")
            .model(model.clone())
            .dyn_tool(effects.tool("look"))
            .durable(place.store()?)
            .build()?;
        let Err(Error::ContractChanged { changes, .. }) = without.resume("r").await else { panic!("a tool is gone") };
        let asked = asked.interruption().ok_or("it needs approval")?;
        let outcome = without.resume("r").accept(changes).approve(asked).await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("done"));
        assert!(effects.all().is_empty());
        let told = model.requests()[1].messages[1].calls()[0].outcome.to_model_text();
        assert!(told.contains("look") && !told.contains("pay"), "{told}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn s8_a_direct_call_waits_for_approval_like_any_other() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let agent = clerk(&effects, ScriptedModel::new([])).durable(place.store()?).build()?;
        let Err(Error::Interrupted(asked)) = agent.call_tool("pay", json!({ "cents": 5 })).await else {
            panic!("it needs approval")
        };
        assert_eq!(effects.count("pay"), 0);
        let again = clerk(&effects, ScriptedModel::new([])).durable(place.store()?).build()?;
        let run_id = asked.run_id.clone();
        let outcome = again.resume(&run_id).approve(&asked).await?;
        assert_eq!(outcome.answer().map(Answer::content), Some(&json!({ "done": 1 })));
        assert_eq!(effects.count("pay"), 1);
        let records = again.journal(&run_id).await?;
        let intents =
            records.iter().filter(|record| matches!(record, Record::Dispatched { actions, .. } if actions.len() == 1));
        assert_eq!(intents.count(), 1);

        let Err(Error::Interrupted(asked)) = agent.call_tool("pay", json!({ "cents": 6 })).await else {
            panic!("it needs approval")
        };
        let refused = agent.resume(&asked.run_id).reject(&asked).await.expect_err("a person said no");
        assert!(matches!(refused, Error::CallRefused { .. }), "{refused:?}");
        assert_eq!(effects.count("pay"), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d1_a_reply_that_waits_is_one_commit_with_what_it_waits_for() -> Outcome {
    on_both(async |place| {
        let store = Watched::new(place.store()?);
        let model = asks_once(Reply::calls([("look", json!({})), ("pay", json!({}))]));
        let agent = clerk(&Effects::new(), model).durable(store.clone()).build()?;
        let outcome = agent.run("pay").run_id("r").await?;
        assert_eq!(store.commits(), 2);
        let Some(Record::Replied(replied)) = agent.journal("r").await?.pop() else { panic!("it ends with the reply") };
        assert_eq!(replied.interruption.as_ref(), outcome.interruption());
        let states: Vec<CallState> = replied.calls.into_iter().map(|call| call.state).collect();
        assert_eq!(states, [CallState::Allowed, CallState::AwaitsApproval], "no intent before the word");
        Ok(())
    })
    .await
}
