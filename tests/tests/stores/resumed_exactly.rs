//! D4, D10, M10, P1: what a resume brings back, what it counts, and what it writes down on the way.

use std::sync::Arc;

use protolink::durable::{CallState, Page, Record, RunFilter, RunState, RunStore};
use protolink::prelude::*;
use protolink::rules::{Approval, ApprovalRequest, Decision, Policy, PolicyRequest};
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentBuilder, Interruption, InterruptionRequest, OnError, RunId, ToolError};
use protolink_tests::durable::{Effects, Mishap, Outcome, Place, Watched, on_both};
use protolink_tests::{failing_tool, sent};
use serde_json::{Value, json};

/// Follows the script by the number of turns that a request shows.
fn script(replies: impl IntoIterator<Item = Reply>) -> ScriptedModel {
    let replies: Vec<Reply> = replies.into_iter().collect();
    ScriptedModel::from_fn(move |request| {
        let turn = request.messages.iter().filter(|message| message.is_assistant()).count();
        replies.get(turn).cloned().unwrap_or_else(|| Reply::permanent("the script has ended"))
    })
}

/// Wants a person's word for `money`, and allows no call of the tools that it names.
struct House {
    denied: &'static [&'static str],
}

impl Policy for House {
    fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
        if self.denied.contains(&request.tool.name()) {
            Decision::Deny { reason: "not any more".to_owned() }
        } else if request.tool.name() == "pay" {
            Decision::RequireApproval
        } else {
            Decision::Allow
        }
    }
}

fn clerk(effects: &Effects, model: &ScriptedModel, denied: &'static [&'static str]) -> AgentBuilder {
    Agent::builder("clerk")
        .model(model.clone())
        .dyn_tool(effects.tool("pay"))
        .dyn_tool(effects.tool("look"))
        .policy(House { denied })
}

fn asked(outcome: &protolink::Outcome) -> Outcome<Interruption> {
    Ok(outcome.interruption().ok_or("it waits for nothing")?.clone())
}

async fn state(store: &impl RunStore) -> Outcome<RunState> {
    Ok(store.list(&RunFilter::new(), Page::newest(1)).await?.runs.first().ok_or("there is no run")?.state)
}

/// The decisions of a journal: the tool's place in its turn, whether it was refused, and whether the run waits on.
fn decisions(records: &[Record]) -> Vec<(String, bool, bool)> {
    let decided = records.iter().filter_map(|record| match record {
        Record::Decided(decided) => Some((
            decided.action_id.to_string(),
            matches!(decided.state, CallState::Refused(_)),
            decided.interruption.is_some(),
        )),
        _ => None,
    });
    decided.collect()
}

#[tokio::test]
async fn p1_what_was_allowed_before_a_pause_is_asked_for_again_after_it() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = script([Reply::calls([("pay", json!({})), ("look", json!({}))]), Reply::text("done")]);
        let agent = clerk(&effects, &model, &[]).durable(place.store()?).build()?;
        let waits = asked(&agent.run("go").run_id("r").await?)?;
        let stricter = clerk(&effects, &model, &["look"]).durable(place.store()?).build()?;
        let outcome = stricter.resume("r").approve(&waits).await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("done"));
        assert_eq!((effects.count("pay"), effects.count("look")), (1, 0));
        // The refusal of the one is no word on the other, for which the run goes on to wait.
        let decided = decisions(&stricter.journal("r").await?);
        assert_eq!(decided, [("r/1/1".to_owned(), true, true), ("r/1/0".to_owned(), false, false)]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn p1_a_refusal_of_what_a_run_waits_for_ends_the_wait() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = script([Reply::calls([("pay", json!({})), ("look", json!({}))]), Reply::text("done")]);
        let agent = clerk(&effects, &model, &[]).durable(place.store()?).build()?;
        let waits = asked(&agent.run("go").run_id("r").await?)?;
        let stricter = clerk(&effects, &model, &["pay"]).durable(place.store()?).build()?;
        let outcome = stricter.resume("r").approve(&waits).await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("done"));
        assert_eq!((effects.count("pay"), effects.count("look")), (0, 1));
        let decided = decisions(&stricter.journal("r").await?);
        assert_eq!(decided, [("r/1/0".to_owned(), true, false)]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn m10_a_tool_that_is_gone_is_told_from_those_of_its_step() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = script([Reply::call("pay", json!({})), Reply::text("done")]);
        let hidden = |request: &mut ModelRequest<'_>| {
            if request.step() == 1 {
                request.tools().remove_named("hidden");
            }
        };
        let agent = clerk(&effects, &model, &[])
            .dyn_tool(effects.tool("hidden"))
            .before_model("hides", hidden)
            .durable(place.store()?)
            .build()?;
        let waits = asked(&agent.run("go").run_id("r").await?)?;
        let without = Agent::builder("clerk")
            .model(model.clone())
            .dyn_tool(effects.tool("look"))
            .dyn_tool(effects.tool("hidden"))
            .before_model("hides", hidden)
            .durable(place.store()?)
            .build()?;
        let Err(Error::ContractChanged { changes, .. }) = without.resume("r").await else { panic!("a tool is gone") };
        let _ = without.resume("r").accept(changes).approve(&waits).await?;
        let told = model.requests()[1].messages[1].calls()[0].outcome.to_model_text();
        assert!(told.contains("look") && !told.contains("hidden"), "{told}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn m12_a_turn_that_waited_comes_back_with_its_words() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = script([Reply::call("pay", json!({})).saying("let me pay"), Reply::text("done")]);
        let agent = clerk(&effects, &model, &[]).durable(place.store()?).build()?;
        let waits = asked(&agent.run("go").run_id("r").await?)?;
        let agent = clerk(&effects, &model, &[]).durable(place.store()?).build()?;
        let _ = agent.resume("r").approve(&waits).await?;
        assert_eq!(sent(&model.requests()[1])[1], "assistant: let me pay | pay({}) = {\"done\":1}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d4_a_word_on_another_request_or_another_action_is_for_an_earlier_one() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = script([Reply::call("pay", json!({})), Reply::text("done")]);
        let agent = clerk(&effects, &model, &[]).durable(place.store()?).build()?;
        let waits = asked(&agent.run("go").run_id("r").await?)?;
        let (mut earlier, mut elsewhere) = (waits.clone(), waits.clone());
        earlier.id = "an earlier one".to_owned();
        elsewhere.action_id = "r/1/7".into();
        let mut more = waits.clone();
        let InterruptionRequest::Approval { capabilities, .. } = &mut more.request else { panic!("{more:?}") };
        capabilities.push("everything".to_owned());
        for (other, said) in [
            (earlier, "the response is for an earlier request"),
            (elsewhere, "the response is for an earlier request"),
            (more, "the tool or its arguments are not the ones that were asked about"),
        ] {
            let stale = agent.resume("r").approve(&other).await.expect_err("it is not what was asked");
            let Error::StaleResponse { reason, .. } = stale else { panic!("{stale:?}") };
            assert_eq!(reason, said);
        }
        assert_eq!(effects.count("pay"), 0);
        let _ = agent.resume("r").approve(&waits).await?;
        assert_eq!(effects.count("pay"), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d10_a_limit_that_is_given_while_a_run_waits_is_kept() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = script([Reply::call("pay", json!({})), Reply::text("done")]);
        let agent = clerk(&effects, &model, &[]).durable(place.store()?).build()?;
        let waits = asked(&agent.run("go").run_id("r").await?)?;
        let still = agent.resume("r").budget(Budget::new().max_steps(1)).await?;
        assert_eq!(asked(&still)?, waits);
        let over = agent.resume("r").approve(&waits).await.expect_err("one step is all");
        assert!(matches!(over, Error::Budget { .. }), "{over:?}");
        assert_eq!(effects.count("pay"), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d10_a_limit_below_what_was_spent_is_in_the_way_of_new_calls_only() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = script([Reply::call("look", json!({})), Reply::text("done")]);
        let agent = |store| clerk(&effects, &model, &[]).durable(store).build();
        // The start, the reply, the receipt.
        let store = Watched::with_mishap(place.store()?, 3, Mishap::DiesAfter);
        let first = agent(Arc::new(store.clone()) as Arc<dyn RunStore>)?;
        assert!(store.until_death(async { first.run("go").run_id("r").await }).await.is_none());
        place.outlive_leases();
        let second = agent(place.store()?)?;
        let outcome = second.resume("r").budget(Budget::new().max_tool_calls(0)).await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("done"));
        assert_eq!(effects.count("look"), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d10_refused_calls_of_before_a_crash_still_count() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = script([Reply::call("gone", json!({})), Reply::call("gone", json!({})), Reply::text("done")]);
        let agent = |store| clerk(&effects, &model, &[]).max_tool_corrections(1).durable(store).build();
        let store = Watched::with_mishap(place.store()?, 2, Mishap::DiesAfter);
        let first = agent(Arc::new(store.clone()) as Arc<dyn RunStore>)?;
        assert!(store.until_death(async { first.run("go").run_id("r").await }).await.is_none());
        place.outlive_leases();
        let failed = agent(place.store()?)?.resume("r").await.expect_err("it is the second refusal");
        assert!(matches!(failed, Error::ToolCorrections { limit: 1, .. }), "{failed:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d10_what_counts_nothing_is_not_written_down() -> Outcome {
    on_both(async |place| {
        let store = Watched::new(place.store()?);
        let model = script([Reply::call("gone", json!({})), Reply::text("done")]);
        let agent = clerk(&Effects::new(), &model, &[]).durable(store.clone()).build()?;
        let _ = agent.run("go").await?;
        let rows = store.rows();
        assert!(rows[1].contains("\"corrections\":1"), "{}", rows[1]);
        assert!(!rows[1].contains("revisions"), "{}", rows[1]);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d1_a_store_knows_whether_a_run_works_or_waits() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let looked = place.store()?;
        let watching = |name| {
            let looked = Arc::clone(&looked);
            effects.tool_that(name, move |_| {
                let looked = Arc::clone(&looked);
                async move {
                    Ok(json!(format!(
                        "{:?}",
                        state(&looked).await.map_err(|error| ToolError::failed(error.to_string()))?
                    )))
                }
            })
        };
        let model = script([Reply::call("look", json!({})), Reply::call("pay", json!({})), Reply::text("done")]);
        let agent = |store| {
            Agent::builder("clerk")
                .model(model.clone())
                .dyn_tool(watching("look"))
                .dyn_tool(watching("pay"))
                .policy(House { denied: &[] })
                .durable(store)
                .build()
        };
        let first = agent(place.store()?)?;
        let waits = asked(&first.run("go").run_id("r").await?)?;
        assert_eq!(state(&looked).await?, RunState::Paused);
        let seen = |request: usize, message: usize| {
            model.requests()[request].messages[message].calls()[0].outcome.observed().cloned()
        };
        assert_eq!(seen(1, 1), Some(json!("Running")));
        // Taken up, approved, and then the process dies: it waits for nobody any more.
        let store = Watched::with_mishap(place.store()?, 2, Mishap::DiesAfter);
        let second = agent(Arc::new(store.clone()) as Arc<dyn RunStore>)?;
        assert!(store.until_death(async { second.resume("r").approve(&waits).await }).await.is_none());
        assert_eq!(state(&looked).await?, RunState::Running);
        place.outlive_leases();
        let _ = agent(place.store()?)?.resume("r").await?;
        assert_eq!(seen(2, 2), Some(json!("Running")));
        assert_eq!(state(&looked).await?, RunState::Completed);
        // A direct call works from its first commit on.
        assert_eq!(first.call_tool("look", json!({})).await?, json!("Running"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d1_a_run_that_is_taken_up_works_and_one_that_goes_on_waiting_waits() -> Outcome {
    on_both(async |place| {
        let model =
            script([Reply::calls([("pay", json!({ "n": 1 })), ("pay", json!({ "n": 2 }))]), Reply::text("done")]);
        let agent = |store| clerk(&Effects::new(), &model, &[]).durable(store).build();
        let dying = |at| -> Outcome<(Watched, Agent)> {
            let store = Watched::with_mishap(place.store()?, at, Mishap::DiesAfter);
            let agent = agent(Arc::new(store.clone()) as Arc<dyn RunStore>)?;
            Ok((store, agent))
        };
        let (store, first) = dying(1)?;
        assert!(store.until_death(async { first.run("go").run_id("r").await }).await.is_none());
        assert_eq!(state(&place.store()?).await?, RunState::Running);
        place.outlive_leases();
        let (store, second) = dying(1)?;
        assert!(store.until_death(async { second.resume("r").await }).await.is_none());
        assert_eq!(state(&place.store()?).await?, RunState::Running);
        place.outlive_leases();
        let third = agent(place.store()?)?;
        let waits = asked(&third.resume("r").await?)?;
        // The first of two calls is approved: the run waits for a word on the second.
        let waits = asked(&third.resume("r").approve(&waits).await?)?;
        assert_eq!(waits.arguments(), Some(&json!({ "n": 2 })));
        assert_eq!(state(&place.store()?).await?, RunState::Paused);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d1_a_question_is_committed_with_the_reply_that_asks_it_approver_or_not() -> Outcome {
    on_both(async |place| {
        let store = Watched::new(place.store()?);
        let model = script([
            Reply::call("pay", json!({})),
            Reply::call("ask_user", json!({ "question": "Sure?" })),
            Reply::text("done"),
        ]);
        let effects = Effects::new();
        let agent = clerk(&effects, &model, &[])
            .ask_user()
            .approver(|_: &ApprovalRequest| Approval::Approve)
            .durable(store.clone())
            .build()?;
        let waits = asked(&agent.run("go").run_id("r").await?)?;
        assert_eq!(waits.question(), Some("Sure?"));
        assert_eq!(effects.count("pay"), 1);
        assert!(matches!(agent.journal("r").await?.last(), Some(Record::Replied(_))));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d2_a_failed_tool_that_reports_is_told_after_a_crash_too() -> Outcome {
    on_both(async |place| {
        let model = script([Reply::call("bad", json!({})), Reply::text("done")]);
        let agent = |store| {
            Agent::builder("clerk")
                .model(model.clone())
                .dyn_tool(failing_tool("bad").on_error(OnError::Report))
                .durable(store)
                .build()
        };
        let store = Watched::with_mishap(place.store()?, 3, Mishap::DiesAfter);
        let first = agent(Arc::new(store.clone()) as Arc<dyn RunStore>)?;
        assert!(store.until_death(async { first.run("go").run_id("r").await }).await.is_none());
        place.outlive_leases();
        let outcome = agent(place.store()?)?.resume("r").await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("done"));
        assert!(model.requests()[1].messages[1].calls()[0].outcome.is_error());
        assert_eq!(model.requests()[1].messages[1].calls()[0].call.arguments, Value::Object(serde_json::Map::new()));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn f1_an_answer_is_held_to_its_type_after_a_resume() -> Outcome {
    #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Price {
        cents: u64,
    }
    on_both(async |place| {
        let agent = |store, replies: [Reply; 2]| {
            Agent::builder("a").model(ScriptedModel::new(replies)).answer::<Price>().durable(store).build()
        };
        let replies = || [Reply::text(r#"{"cents": "five"}"#), Reply::text(r#"{"cents": 5}"#)];
        let store = Watched::with_mishap(place.store()?, 2, Mishap::DiesBefore);
        let first = agent(Arc::new(store.clone()) as Arc<dyn RunStore>, replies())?;
        assert!(store.until_death(async { first.agent().run("how much?").run_id("r").await }).await.is_none());
        place.outlive_leases();
        let outcome = agent(place.store()?, replies())?.agent().resume("r").await?;
        assert_eq!(outcome.answer().map(Answer::content), Some(&json!({ "cents": 5 })));
        Ok(())
    })
    .await
}

/// How many model requests are counted when a run is taken up that died at its commit `at`.
async fn counted(place: &Place, at: u64, build: impl Fn(Arc<dyn RunStore>) -> Outcome<Agent>) -> Outcome<u32> {
    let store = Watched::with_mishap(place.store()?, at, Mishap::DiesAfter);
    let first = build(Arc::new(store.clone()))?;
    let run_id = format!("r{at}");
    assert!(store.until_death(async { first.run("go").run_id(run_id.as_str()).await }).await.is_none());
    place.outlive_leases();
    let second = build(place.store()?)?;
    let _ = second.resume(run_id.as_str()).await?;
    taken_up(&second, &run_id.into()).await
}

async fn taken_up(agent: &Agent, run_id: &RunId) -> Outcome<u32> {
    let records = agent.journal(run_id).await?;
    let spent = records.iter().find_map(|record| match record {
        Record::Resumed(resumed) => Some(resumed.spent.model_calls),
        _ => None,
    });
    Ok(spent.ok_or("it was not taken up")?)
}

#[tokio::test]
async fn d10_a_request_counts_as_lost_only_where_one_may_have_been_under_way() -> Outcome {
    on_both(async |place| {
        let model = script([Reply::call("look", json!({})), Reply::text("done")]);
        let plain = |store| Ok(clerk(&Effects::new(), &model, &[]).durable(store).build()?);
        // The start, the call, its receipt, the answer.
        assert_eq!(counted(place, 1, plain).await?, 1, "the first was on its way");
        assert_eq!(counted(place, 3, plain).await?, 2, "the second was on its way");
        assert_eq!(counted(place, 4, plain).await?, 2, "the answer is there");
        Ok(())
    })
    .await?;
    on_both(async |place| {
        let model = script([Reply::call("look", json!({})), Reply::text("done")]);
        let revising = |store| Ok(clerk(&Effects::new(), &model, &[]).max_revisions(1).durable(store).build()?);
        assert_eq!(counted(place, 4, revising).await?, 3, "it may have gone back to the model");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d10_no_request_is_lost_of_a_run_that_waited_or_failed() -> Outcome {
    on_both(async |place| {
        let model = script([Reply::call("pay", json!({})), Reply::text("done")]);
        let agent = clerk(&Effects::new(), &model, &[]).durable(place.store()?).build()?;
        let waits = asked(&agent.run("go").run_id("waited").await?)?;
        let _ = agent.resume("waited").approve(&waits).await?;
        assert_eq!(taken_up(&agent, &"waited".into()).await?, 1);
        let model = ScriptedModel::new([Reply::permanent("no"), Reply::text("done")]);
        let agent = clerk(&Effects::new(), &model, &[]).durable(place.store()?).build()?;
        assert!(agent.run("go").run_id("failed").await.is_err());
        let _ = agent.resume("failed").await?;
        assert_eq!(taken_up(&agent, &"failed".into()).await?, 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn s8_a_direct_call_asks_no_model_and_loses_no_request() -> Outcome {
    on_both(async |place| {
        // The start, the intent, the receipt.
        let store = Watched::with_mishap(place.store()?, 3, Mishap::DiesAfter);
        let agent = clerk(&Effects::new(), &script([]), &[]).durable(store.clone()).build()?;
        let call = Box::pin(agent.call_tool("look", json!({})));
        assert!(store.until_death(call).await.is_none());
        place.outlive_leases();
        let listed = place.store()?.list(&RunFilter::new(), Page::newest(1)).await?;
        let run_id = listed.runs.first().ok_or("there is no run")?.run_id.clone();
        let agent = clerk(&Effects::new(), &script([]), &[]).durable(place.store()?).build()?;
        let outcome = agent.resume(&run_id).await?;
        assert_eq!(outcome.answer().map(Answer::content), Some(&json!({ "done": 1 })));
        assert_eq!(taken_up(&agent, &run_id).await?, 0);
        Ok(())
    })
    .await
}
