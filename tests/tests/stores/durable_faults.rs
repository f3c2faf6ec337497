//! D7, D8, T7: runs whose store, lease, clock or values are not what they should be.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use protolink::durable::{self, JOURNAL_VERSION, NewRun, Record, Row, RunStore, StoreError};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{DynTool, RunId, ValueError};
use protolink_tests::durable::{Effects, Outcome, Place, on_both};
use serde_json::{Value, json};

/// Calls the tool, then answers.
fn calls_once(tool: &'static str) -> ScriptedModel {
    ScriptedModel::from_fn(move |request| match request.messages.len() {
        1 => Reply::call(tool, if tool == "ask_user" { json!({ "question": "?" }) } else { json!({}) }),
        _ => Reply::text("done"),
    })
}

async fn finished(agent: &Agent, run_id: &str) -> Outcome<String> {
    Ok(agent.resume(run_id).await?.answer().ok_or("it waits")?.text().to_owned())
}

#[tokio::test]
async fn d7_a_worker_that_lost_its_run_commits_nothing_more() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let rival = Agent::builder("a").model(calls_once("pay")).dyn_tool(effects.tool("pay")).durable(place.store()?);
        let rival = rival.build()?;
        let taken = (rival.clone(), place.clock().clone());
        let clock = place.clock().clone();
        let slow = Agent::builder("a")
            .model(calls_once("pay"))
            .dyn_tool(effects.tool_that("pay", move |_| {
                // The work takes so long that another worker takes the run, and ends it as the application knows best.
                let (rival, clock) = (taken.0.clone(), clock.clone());
                async move {
                    clock.advance(Duration::from_mins(5));
                    assert!(matches!(rival.resume("r").await, Err(Error::Uncertain { .. })));
                    rival.reconcile("r", "r/1/0", json!("reconciled")).await?;
                    let _ = rival.resume("r").await?;
                    Ok(json!("too late"))
                }
            }))
            .durable(place.store()?)
            .build()?;
        let lost = slow.run("go").run_id("r").await.expect_err("the run is another's");
        assert!(matches!(lost, Error::Store(StoreError::LeaseLost { .. })), "{lost:?}");
        assert_eq!(effects.count("pay"), 1);
        assert_eq!(finished(&rival, "r").await?, "done");
        let journal = format!("{:?}", rival.journal("r").await?);
        assert!(journal.contains("reconciled") && !journal.contains("too late"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d7_a_blocked_worker_whose_lease_ran_out_commits_nothing_more() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let lease = Duration::from_millis(60);
        let clock = place.clock().clone();
        // A tool that blocks its thread blocks the sign of life too, which would be due long before the tool returns.
        let agent = Agent::builder("a")
            .model(calls_once("block"))
            .dyn_tool(effects.tool_that("block", move |_| {
                std::thread::sleep(2 * lease);
                clock.advance(2 * lease);
                async { Ok(Value::Null) }
            }))
            .lease(lease)
            .durable(place.store()?)
            .build()?;
        let lost = agent.run("go").run_id("r").await.expect_err("the lease ran out");
        assert!(matches!(lost, Error::Store(StoreError::LeaseLost { .. })), "{lost:?}");
        let resumed = agent.resume("r").await;
        assert!(matches!(resumed, Err(Error::Uncertain { .. })), "{resumed:?}");
        assert_eq!(effects.count("block"), 1);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d7_a_worker_that_waits_long_keeps_its_run() -> Outcome {
    on_both(async |place| {
        let lease = Duration::from_millis(150);
        let (store, clock) = (place.store()?, place.clock().clone());
        // The time of the leases goes on when a sign of life was seen, and not before, however slow the machine is.
        let wait = Effects::new().tool_that("wait", move |_| {
            let (store, clock) = (Arc::clone(&store), clock.clone());
            async move {
                let held_until = async || match store.acquire(&RunId::from("r"), lease).await {
                    Err(StoreError::Busy { until, .. }) => Ok(until),
                    other => Err(ToolError::failed(format!("another took the run: {other:?}"))),
                };
                for _ in 0..6 {
                    let before = held_until().await?;
                    clock.advance(lease / 2);
                    let seen = async {
                        while held_until().await? <= before {
                            tokio::time::sleep(Duration::from_millis(5)).await;
                        }
                        Ok::<_, ToolError>(())
                    };
                    tokio::time::timeout(Duration::from_mins(1), seen).await??;
                }
                Ok(Value::Null)
            }
        });
        let agent = Agent::builder("a").model(calls_once("wait")).dyn_tool(wait).lease(lease).durable(place.store()?);
        let outcome = agent.build()?.run("go").run_id("r").await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("done"));
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn d7_of_many_workers_that_resume_one_run_each_effect_is_had_once() -> Outcome {
    for place in [Place::memory(), Place::file()?] {
        let effects = Effects::new();
        let asks = ScriptedModel::from_fn(|request| {
            match request.messages.iter().filter(|message| message.is_assistant()).count() {
                0 => Reply::call("ask_user", json!({ "question": "?" })),
                1..=5 => Reply::call("pay", json!({})),
                _ => Reply::text("done"),
            }
        });
        let agent = |store| {
            Agent::builder("a").model(asks.clone()).ask_user().dyn_tool(effects.tool("pay")).durable(store).build()
        };
        let outcome = agent(place.store()?)?.run("go").run_id("r").await?;
        let asked = outcome.interruption().ok_or("it asks")?.clone();
        let mut workers = Vec::new();
        for _ in 0..12 {
            let (agent, asked) = (agent(place.store()?)?, asked.clone());
            workers.push(tokio::spawn(async move { agent.resume("r").answer(&asked, "yes").await }));
        }
        let mut completed = 0;
        for worker in workers {
            match worker.await? {
                Ok(outcome) => completed += usize::from(outcome.answer().is_some()),
                Err(Error::RunBusy { .. } | Error::StaleResponse { .. }) => {}
                Err(error) => return Err(format!("{error:?}").into()),
            }
        }
        assert_eq!(completed, 1, "in {}", place.name());
        assert_eq!(effects.count("pay"), 5, "in {}", place.name());
    }
    Ok(())
}

#[tokio::test]
async fn d7_a_clock_that_is_set_back_or_forth_keeps_nobody_out_for_good() -> Outcome {
    on_both(async |place| {
        let effects = Effects::new();
        let agent = Agent::builder("a")
            .model(calls_once("ask_user"))
            .ask_user()
            .dyn_tool(effects.tool("pay"))
            .durable(place.store()?)
            .build()?;
        for (run_id, back) in [("back", true), ("forth", false)] {
            let outcome = agent.run("go").run_id(run_id).await?;
            let asked = outcome.interruption().ok_or("it asks")?;
            let year = Duration::from_hours(24 * 365);
            if back {
                place.clock().rewind(year);
            } else {
                place.clock().advance(year);
            }
            let outcome = agent.resume(run_id).answer(asked, "yes").await?;
            assert_eq!(outcome.answer().map(Answer::text), Some("done"));
        }
        Ok(())
    })
    .await
}

/// Keeps a run anew, with other rows than the ones that were written.
async fn rewrite(store: &Arc<dyn RunStore>, run_id: &str, change: impl Fn(Row) -> Option<Row>) -> Outcome {
    let stored = store.load(&RunId::from(run_id)).await?;
    let (run_id, state) = (stored.summary.run_id.clone(), stored.summary.state);
    store.delete(&run_id).await?;
    let mut rows = stored.rows.into_iter().filter_map(change);
    let first = rows.next().ok_or("there are no rows")?;
    let lease = store.create(NewRun::new(run_id, stored.summary.agent), first, Duration::from_secs(9)).await?;
    for row in rows {
        store.append(&lease, row, state).await?;
    }
    Ok(store.release(lease).await?)
}

#[tokio::test]
async fn d8_a_run_whose_rows_are_not_as_they_were_is_told_and_left_alone() -> Outcome {
    type Change = fn(&RunId, Row) -> Row;
    let changes: [(&str, u64, Change); 8] = [
        ("a bit", 2, |_, mut row| {
            row.payload = row.payload.replacen("Calls", "Callz", 1).replacen("calls", "callz", 1);
            row
        }),
        ("another run's row", 2, |_, row| Row::new(&RunId::from("other"), row.sequence, row.version, row.payload)),
        ("no record", 3, |id, row| Row::new(id, row.sequence, row.version, "{}")),
        ("no JSON", 3, |id, row| Row::new(id, row.sequence, row.version, "{")),
        ("a lone surrogate", 3, |id, row| {
            Row::new(id, row.sequence, row.version, row.payload.replacen("\"done\"", r#""\ud800""#, 1))
        }),
        ("nothing at all", 3, |id, row| Row::new(id, row.sequence, row.version, "")),
        ("a record that cannot follow", 3, |id, row| {
            Row::new(
                id,
                row.sequence,
                row.version,
                r#"{"dispatched":{"actions":["r/7/7"],"spent":{"steps":1,"model_calls":1,"tool_calls":1,"input_tokens":0,"output_tokens":0,"wall_time":{"secs":0,"nanos":0}}}}"#,
            )
        }),
        ("nesting without end", 3, |id, row| {
            let deep = format!(r#"{{"receipted":{{"receipt":{}{}"#, "[".repeat(100_000), "]".repeat(100_000));
            Row::new(id, row.sequence, row.version, deep)
        }),
    ];
    for (what, at, change) in changes {
        for place in [Place::memory(), Place::file()?] {
            let effects = Effects::new();
            let agent = Agent::builder("a")
                .model(calls_once("pay"))
                .dyn_tool(effects.tool("pay"))
                .durable(place.store()?)
                .build()?;
            let _ = agent.run("go").run_id("r").await?;
            let run_id = RunId::from("r");
            rewrite(&place.store()?, "r", |row| match row.sequence {
                sequence if sequence == at => Some(change(&run_id, row)),
                // What came later is lost, so that a resume would have to go on.
                sequence if sequence > 3 => None,
                _ => Some(row),
            })
            .await?;
            let damaged = |error: Error| match error {
                Error::Store(StoreError::Damaged { run_id, sequence, .. }) => {
                    assert_eq!((run_id.as_str(), sequence), ("r", Some(at)), "{what}");
                }
                other => panic!("{what}: {other:?}"),
            };
            damaged(agent.resume("r").await.expect_err(what));
            damaged(agent.cancel("r").await.expect_err(what));
            damaged(agent.reconcile("r", "r/1/0", 1).await.expect_err(what));
            damaged(agent.interruption("r").await.expect_err(what));
            assert_eq!(effects.count("pay"), 1, "{what}: it is not started over");
        }
    }
    Ok(())
}

#[tokio::test]
async fn d8_a_run_of_a_newer_version_is_told_and_left_alone() -> Outcome {
    on_both(async |place| {
        let agent = Agent::builder("a").model(calls_once("none")).durable(place.store()?).build()?;
        let _ = agent.run("go").run_id("r").await?;
        let run_id = RunId::from("r");
        // Whatever it is that a newer version writes, this one does not try to read it.
        let newer = |row: Row| Row::new(&run_id, row.sequence, JOURNAL_VERSION + 1, "a format of the future");
        rewrite(&place.store()?, "r", |row| Some(if row.sequence == 2 { newer(row) } else { row })).await?;
        let refused = agent.resume("r").await.expect_err("it is newer");
        let Error::Store(StoreError::NewerVersion { run_id, sequence: 2, found, .. }) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!((run_id.as_str(), found), ("r", JOURNAL_VERSION + 1));
        let missing = agent.resume("never").await.expect_err("there is none");
        assert!(matches!(missing, Error::Store(StoreError::NotFound { .. })));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d8_a_conversation_that_goes_in_circles_is_told() -> Outcome {
    on_both(async |place| {
        let agent = Agent::builder("a").model(calls_once("none")).durable(place.store()?).build()?;
        let mut conversation = agent.conversation_id("c").await?;
        let _ = conversation.run("one").run_id("one").await?;
        let _ = conversation.run("two").run_id("two").await?;
        let store = place.store()?;
        let mut stored = store.load(&RunId::from("one")).await?;
        let payload = stored.rows[0].payload.replacen(r#""continues":null"#, r#""continues":"two""#, 1);
        stored.rows[0] = Row::new(&RunId::from("one"), 1, JOURNAL_VERSION, payload);
        store.delete(&RunId::from("one")).await?;
        let first = stored.rows[0].clone();
        let lease = store.create(NewRun::new("one", "a"), first, Duration::from_secs(9)).await?;
        store.release(lease).await?;
        let mut new = NewRun::new("three", "a");
        new.conversation = Some("c".to_owned());
        let third = stored.rows[0].payload.replacen(r#""run_id":"one""#, r#""run_id":"three""#, 1);
        let lease = store
            .create(new, Row::new(&RunId::from("three"), 1, JOURNAL_VERSION, third), Duration::from_secs(9))
            .await?;
        store.release(lease).await?;
        let refused = agent.conversation_id("c").await.expect_err("it has no beginning");
        assert!(matches!(refused, Error::Store(StoreError::Damaged { .. })), "{refused:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn t7_a_result_that_cannot_be_kept_is_done_and_is_reconciled() -> Outcome {
    #[protolink::tool]
    fn measure() -> f64 {
        MEASURED.fetch_add(1, Ordering::SeqCst);
        f64::NAN
    }
    static MEASURED: AtomicUsize = AtomicUsize::new(0);
    on_both(async |place| {
        MEASURED.store(0, Ordering::SeqCst);
        let model = calls_once("measure");
        let agent = Agent::builder("a").model(model.clone()).tool::<measure>().durable(place.store()?).build()?;
        let failed = agent.run("go").run_id("r").await.expect_err("NaN is no JSON");
        let Error::ToolValue { action_id, source: ValueError::NotFinite, .. } = failed else { panic!("{failed:?}") };
        assert!(matches!(agent.resume("r").await, Err(Error::Uncertain { .. })), "its result is to be said");
        agent.reconcile("r", &action_id, 1.5).await?;
        assert_eq!(finished(&agent, "r").await?, "done");
        assert_eq!(MEASURED.load(Ordering::SeqCst), 1);
        let last = model.requests().pop().ok_or("it was asked")?;
        assert_eq!(last.messages[1].calls()[0].outcome.observed(), Some(&json!(1.5)));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn t7_a_text_with_half_a_character_fails_its_tool_and_nothing_else() -> Outcome {
    on_both(async |place| {
        let read = DynTool::new("read", "Reads JSON.", json!({ "type": "object" }), |_, _| async {
            // As a service may send it: a lone surrogate is no text.
            Ok::<Value, ToolError>(serde_json::from_str(r#""\ud800""#)?)
        });
        let agent = Agent::builder("a")
            .model(calls_once("read"))
            .dyn_tool(read.on_error(protolink::OnError::Report))
            .durable(place.store()?)
            .build()?;
        let _ = agent.run("go").run_id("r").await?;
        assert_eq!(finished(&agent, "r").await?, "done");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn t3_a_result_of_50_mb_is_kept_whole_and_resumed() -> Outcome {
    const SIZE: usize = 50 * 1024 * 1024;
    let place = Place::file()?;
    let effects = Effects::new();
    let agent = |store| {
        Agent::builder("a")
            .model(calls_once("dump").without_recording())
            .dyn_tool(effects.tool_that("dump", |_| async { Ok(Value::String("x".repeat(SIZE))) }))
            .after_tool("cut", |observation: &mut ToolObservation<'_>| {
                let length = observation.result().as_str().map_or(0, str::len);
                *observation.result_mut() = json!({ "length": length });
            })
            .before_complete("fail", |response: &mut FinalResponse<'_>| {
                let whole = response.receipts()[0].result().and_then(Value::as_str).map(str::len) == Some(SIZE);
                if whole { Ok(()) } else { Err("the receipt is not whole") }
            })
            .durable(store)
            .build()
    };
    let outcome = agent(place.store()?)?.run("go").run_id("r").await?;
    assert_eq!(outcome.answer().map(Answer::text), Some("done"));
    let store = place.store()?;
    let records = durable::journal(&*store, &RunId::from("r")).await?;
    let receipt = records.iter().find_map(|record| match record {
        Record::Receipted { receipt, .. } => Some(receipt),
        _ => None,
    });
    assert_eq!(receipt.and_then(|receipt| receipt.result()).and_then(Value::as_str).map(str::len), Some(SIZE));
    assert_eq!(effects.count("dump"), 1);
    Ok(())
}

#[tokio::test]
async fn d10_a_run_of_10_000_steps_dies_and_goes_on() -> Outcome {
    const STEPS: usize = 10_000;
    const FIRST: usize = 9_990;
    let place = Place::memory();
    let effects = Effects::new();
    let calls = |steps| (0..steps).map(|_| Reply::call("pay", json!({})));
    let agent = |store, model: &ScriptedModel, steps| {
        Agent::builder("a")
            .model(model.clone())
            .dyn_tool(effects.tool("pay"))
            .budget(Budget::new().max_steps(steps))
            .durable(store)
            .build()
    };
    let model = ScriptedModel::new(calls(FIRST)).without_recording();
    let first = agent(place.store()?, &model, u32::try_from(FIRST)?)?;
    let stopped = first.run("go").run_id("r").await.expect_err("the budget ends first");
    assert!(matches!(stopped, Error::Budget { .. }), "{stopped:?}");
    let model = ScriptedModel::new(calls(STEPS - FIRST).chain([Reply::text("done")])).without_recording();
    let second = agent(place.store()?, &model, 1)?;
    let outcome = second.resume("r").budget(Budget::new().max_steps(20_000)).await?;
    assert_eq!(outcome.answer().map(Answer::steps), Some(u32::try_from(STEPS + 1)?));
    assert_eq!(effects.count("pay"), STEPS);
    assert_eq!(model.request_count(), STEPS - FIRST + 1, "no step was made twice");
    Ok(())
}
