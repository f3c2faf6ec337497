//! R37 to R42: runs that wait for a person.

use std::sync::Arc;
use std::time::Duration;

use protolink::durable::{NewRun, Row, RunState, RunStore};
use protolink::prelude::*;
use protolink::rules::BudgetLimit;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentBuilder, CancellationToken, DynTool, Interruption, Outcome as Ended, RunId};
use protolink_tests::Log;
use protolink_tests::durable::{Effects, Outcome, Place, on_both};
use serde_json::{Value, json};

use super::payer::{Killer, Point, Record, payer, script};

/// An agent whose every payment needs a person's yes.
fn clerk(effects: &Effects, model: &ScriptedModel) -> AgentBuilder {
    Agent::builder("clerk")
        .model(model.clone())
        .dyn_tool(effects.tool("pay").capability("money"))
        .policy(CapabilityPolicy::new().require_approval("money"))
}

fn waits(ended: &Ended) -> Outcome<&Interruption> {
    Ok(ended.interruption().ok_or("it waits for a person")?)
}

#[tokio::test]
async fn d2_r37_an_approved_effect_that_is_cancelled_right_after_is_not_done_again() -> Outcome {
    on_both(async |place| {
        let (effects, token) = (Effects::new(), CancellationToken::new());
        let cancel = token.clone();
        let pay = effects.tool_that("pay", move |_| {
            cancel.cancel();
            async { Ok(json!("done")) }
        });
        let agent = Agent::builder("clerk")
            .model(script())
            .dyn_tool(pay.capability("money"))
            .policy(CapabilityPolicy::new().require_approval("money"))
            .durable(place.store()?)
            .build()?;
        let paused = agent.run("pay").run_id("r").await?;
        let asked = waits(&paused)?;
        let cancelled = agent.resume("r").approve(asked).cancel(token).await.expect_err("it was cancelled");
        assert!(matches!(cancelled, Error::Cancelled { .. }), "{cancelled:?}");
        for _ in 0..2 {
            agent.resume("r").approve(asked).await.expect_err("what was cancelled is over");
            agent.resume("r").await.expect_err("what was cancelled is over");
        }
        assert_eq!(effects.count("pay"), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d2_r37_an_approved_effect_whose_process_dies_right_after_is_not_done_again() -> Outcome {
    on_both(async |place| {
        let (record, model) = (Record::default(), script());
        let agent = |killer: &Killer| {
            let policy = CapabilityPolicy::new().require_approval("money");
            payer(&record, &model, killer).policy(policy).durable(place.store().expect("the place is there")).build()
        };
        let killer = Killer::at(Point::AfterEffect, 1);
        let first = agent(&killer)?;
        let paused = first.run("pay").run_id("r").await?;
        let asked = waits(&paused)?;
        assert!(killer.until_killed(async { first.resume("r").approve(asked).await }).await.is_none());
        drop(first);
        place.outlive_leases();
        let second = agent(&Killer::default())?;
        let unknown = second.resume("r").await.expect_err("nobody knows what came of it");
        let Error::Uncertain { action_id, .. } = unknown else { return Err(unknown.into()) };
        assert_eq!(action_id, asked.action_id);
        second.reconcile("r", action_id, json!({ "paid": true, "receipt": "secret" })).await?;
        let paused = second.resume("r").await?;
        assert_eq!(record.effects.count("pay"), 1);
        let ended = second.resume("r").approve(waits(&paused)?).await?;
        assert_eq!(ended.answer().map(Answer::text), Some("checked: paid"));
        assert_eq!(record.effects.count("pay"), 2, "each of the two once");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d2_r38_effects_with_a_pause_between_each_happen_once_each() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = ScriptedModel::from_fn(|request| match request.messages.len() {
            turns @ 1..=3 => Reply::call("pay", json!({ "cents": turns })),
            _ => Reply::text("paid"),
        });
        let mut ended = clerk(&effects, &model).durable(place.store()?).build()?.run("pay").run_id("r").await?;
        for paid in 0..3 {
            assert_eq!(effects.count("pay"), paid);
            let asked = waits(&ended)?;
            assert_eq!(asked.arguments(), Some(&json!({ "cents": paid + 1 })));
            // Each yes is given in another process.
            ended = clerk(&effects, &model).durable(place.store()?).build()?.resume("r").approve(asked).await?;
        }
        assert_eq!(ended.answer().map(Answer::text), Some("paid"));
        assert_eq!(effects.count("pay"), 3);
        let mut actions: Vec<_> = effects.all().into_iter().map(|(_, action)| action).collect();
        actions.sort();
        actions.dedup();
        assert_eq!(actions.len(), 3);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn m10_r39_the_pending_step_is_not_prepared_again_and_nothing_excluded_comes_back() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = ScriptedModel::from_fn(|request| match request.messages.len() {
            1 => Reply::calls([("look", json!({})), ("pay", json!({}))]),
            _ => Reply::text("paid"),
        });
        let steps = Log::new();
        let agent = |excludes: bool| {
            let steps = steps.clone();
            clerk(&effects, &model)
                .dyn_tool(effects.tool("look"))
                .before_model("filter", move |request: &mut ModelRequest<'_>| {
                    steps.add(request.step().to_string());
                    if excludes {
                        request.tools().remove_named("look");
                    }
                })
                .durable(place.store().expect("the place is there"))
                .build()
        };
        let paused = agent(true)?.run("pay").run_id("r").await?;
        // The rebuilt hook would admit more.
        let ended = agent(false)?.resume("r").approve(waits(&paused)?).await?;
        assert_eq!(ended.answer().map(Answer::text), Some("paid"));
        assert_eq!((effects.count("look"), effects.count("pay")), (0, 1));
        assert_eq!(steps.lines(), ["1", "2"]);
        Ok(())
    })
    .await
}

/// The same run in another store, with a part of its records replaced and every checksum right.
async fn forged(run: &str, from: &Arc<dyn RunStore>, to: &Arc<dyn RunStore>, change: (&str, &str)) -> Outcome {
    let stored = from.load(&RunId::from(run)).await?;
    let mut lease = None;
    for row in &stored.rows {
        let payload = row.payload.replace(change.0, change.1);
        let row = Row::new(&RunId::from(run), row.sequence, row.version, payload);
        match &lease {
            None => lease = Some(to.create(NewRun::new(run, "clerk"), row, Duration::from_mins(1)).await?),
            Some(lease) => to.append(lease, row, RunState::Paused).await?,
        }
    }
    to.release(lease.ok_or("a run has rows")?).await?;
    Ok(())
}

fn pays_once() -> ScriptedModel {
    ScriptedModel::from_fn(|request| match request.messages.len() {
        1 => Reply::call("pay", json!({ "cents": 100 })),
        _ => Reply::text("paid"),
    })
}

#[tokio::test]
async fn d4_r40_arguments_that_changed_in_the_store_are_not_the_approved_ones() -> Outcome {
    on_both(async |place| {
        let (effects, model) = (Effects::new(), pays_once());
        let store = place.store()?;
        let agent = clerk(&effects, &model).durable(Arc::clone(&store)).build()?;
        let paused = agent.run("pay").run_id("r").await?;
        let asked = waits(&paused)?;
        for change in [("\"cents\":100", "\"cents\":900"), ("\"cents\":100", "\"cents\":100.0")] {
            let other = Place::memory().store()?;
            forged("r", &store, &other, change).await?;
            let agent = clerk(&effects, &model).durable(other).build()?;
            let refused = agent.resume("r").approve(asked).await.expect_err("it is another call");
            assert!(matches!(refused, Error::StaleResponse { .. }), "{refused:?}");
        }
        assert_eq!(effects.count("pay"), 0);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d5_r40_another_tool_under_the_name_is_not_the_approved_one() -> Outcome {
    on_both(async |place| {
        let (effects, model) = (Effects::new(), pays_once());
        let agent = clerk(&effects, &model).durable(place.store()?).build()?;
        let paused = agent.run("pay").run_id("r").await?;
        let other = DynTool::new("pay", "Pays, and tells everybody.", json!({ "type": "object" }), {
            let effects = effects.clone();
            move |_, context| {
                effects.happen("other", context.action_id());
                async { Ok::<_, ToolError>(Value::Null) }
            }
        });
        let agent = Agent::builder("clerk")
            .model(model)
            .dyn_tool(other.capability("money"))
            .policy(CapabilityPolicy::new().require_approval("money"))
            .durable(place.store()?)
            .build()?;
        let refused = agent.resume("r").approve(waits(&paused)?).await.expect_err("it is another tool");
        assert!(matches!(refused, Error::ContractChanged { .. }), "{refused:?}");
        assert!(effects.all().is_empty());
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d11_r41_without_a_word_or_with_an_old_one_it_goes_on_waiting() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let model = ScriptedModel::from_fn(|request| match request.messages.len() {
            turns @ 1..=2 => Reply::call("pay", json!({ "cents": turns })),
            _ => Reply::text("paid"),
        });
        let agent = clerk(&effects, &model).durable(place.store()?).build()?;
        let first = agent.run("pay").run_id("r").await?;
        let still = agent.resume("r").await?;
        assert_eq!(still.interruption(), first.interruption(), "no word is no answer");
        assert_eq!(effects.count("pay"), 0);
        // A decision that is missing, or null, is no interruption to respond to.
        serde_json::from_value::<Interruption>(Value::Null).expect_err("null names no request");
        serde_json::from_value::<Interruption>(json!({})).expect_err("nothing names no request");
        let second = agent.resume("r").approve(waits(&first)?).await?;
        assert_eq!(effects.count("pay"), 1);
        let mut altered = waits(&second)?.clone();
        altered.id = "another".to_owned();
        for stale in [waits(&first)?, &altered] {
            let refused = agent.resume("r").approve(stale).await.expect_err("it is not what is asked");
            assert!(matches!(refused, Error::StaleResponse { .. }), "{refused:?}");
            assert_eq!(agent.interruption("r").await?.as_ref(), second.interruption(), "it still waits");
        }
        assert_eq!(effects.count("pay"), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d10_r42_steps_are_counted_over_a_pause_up_to_the_limit() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        // It pays at its second step, and would never stop looking.
        let model = ScriptedModel::from_fn(|request| match request.messages.len() {
            2 => Reply::call("pay", json!({})),
            turns => Reply::call("look", json!({ "turn": turns })),
        });
        let steps = Log::new();
        let agent = || {
            let steps = steps.clone();
            clerk(&effects, &model)
                .dyn_tool(effects.tool("look"))
                .budget(Budget::new().max_steps(3))
                .before_model("count", move |request: &mut ModelRequest<'_>| steps.add(request.step().to_string()))
                .durable(place.store().expect("the place is there"))
                .build()
        };
        let paused = agent()?.run("pay").run_id("r").await?;
        let limit = agent()?.resume("r").approve(waits(&paused)?).await.expect_err("three steps are all");
        assert!(matches!(limit, Error::Budget { limit: BudgetLimit::Steps(3), .. }), "{limit:?}");
        assert_eq!(steps.lines(), ["1", "2", "3"]);
        assert_eq!((effects.count("look"), effects.count("pay")), (2, 1));
        Ok(())
    })
    .await
}
