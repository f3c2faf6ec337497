//! The matrix of the test kit: what it runs, and the hooks that it finds out.

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::time::Duration;

use protolink::durable::{
    Lease, MemoryStore, NewRun, Page, Row, RunFilter, RunPage, RunState, RunStore, SqliteStore, StoreError, StoredRun,
    Timestamp,
};
use protolink::prelude::*;
use protolink::testing::matrix::{Matrix, MatrixCase, MatrixError, MatrixPath, Moment};
use protolink::testing::{Reply, ScriptedModel};
use protolink::tool::OnError;
use protolink::{AgentBuilder, DynTool, RunId, async_trait};
use protolink_tests::{Boom, Counter, Log, agent, agent_once, effect, failing_tool, search_tool, stores};
use serde_json::{Value, json};

type Tested = Result<(), Box<dyn StdError>>;

/// A step that fails once, two calls in one turn, one more, and an answer.
fn script() -> Vec<Reply> {
    vec![
        Reply::transient("503"),
        Reply::calls([("search", json!({ "query": "lamps" })), ("pay", json!({}))]),
        Reply::call("search", json!({ "query": "desks" })),
        Reply::text("done"),
    ]
}

fn matrix() -> Matrix {
    Matrix::new("Pay for the lamps.", script())
}

/// A tool that gives the same back each time, and counts.
fn pay(paid: &Counter) -> DynTool {
    let paid = paid.clone();
    DynTool::new("pay", "Pays.", json!({ "type": "object" }), move |_, _| {
        paid.up();
        async { Ok::<_, ToolError>(json!("paid")) }
    })
}

fn clerk(model: &ScriptedModel, paid: &Counter) -> AgentBuilder {
    agent_once(model)
        .dyn_tool(search_tool())
        .dyn_tool(pay(paid))
        .before_model("brief", |request: &mut ModelRequest<'_>| {
            request.history().append_system("Be brief.");
            if request.step() > 1 {
                request.tools().remove_named("pay");
            }
        })
        .after_tool("redact", |observation: &mut ToolObservation<'_>| observation.set_result("[hidden]"))
        .before_complete("sign", async |response: &mut FinalResponse<'_>| {
            let receipts = response.receipts().len();
            let signed = format!("{} -- after {receipts} calls", response.text().unwrap_or_default());
            response.set_text(signed);
        })
}

#[tokio::test]
async fn d2_good_hooks_do_the_same_in_every_combination() -> Tested {
    let paid = Counter::new();
    let (_folder, path) = stores::new_file()?;
    let report = matrix().store("sqlite", SqliteStore::open(path)?).run(|model| clerk(&model, &paid)).await?;
    assert_eq!(report.answer(), "done -- after 3 calls");
    assert_eq!(report.failures().count(), 0);

    let of = |keep: &dyn Fn(&MatrixCase) -> bool| report.cases().iter().filter(|case| keep(case)).count();
    let all = report.cases().len();
    for store in ["memory", "sqlite"] {
        for path in [MatrixPath::Plain, MatrixPath::Streamed] {
            for pause in [false, true] {
                let here = |case: &MatrixCase| {
                    let at = &case.combination;
                    at.store == store && at.path == path && at.pause == pause
                };
                // The start, three replies, three receipts and the end at least, each with a crash before and after.
                assert!(of(&here) > 2 * 8, "{store} {path:?} {pause}: {report}");
                assert_eq!(of(&|case| here(case) && case.combination.crash.is_none()), 1);
            }
        }
    }
    let at = |moment| of(&|case| case.combination.crash.is_some_and(|crash| crash.moment == moment));
    assert_eq!((at(Moment::Before), at(Moment::After)), ((all - 8) / 2, (all - 8) / 2));

    let times: usize = report.cases().iter().filter_map(|case| case.executions.get("pay")).sum();
    assert!(times + 1 >= paid.get(), "every payment is in the report, but that of the first run");
    assert!(report.cases().iter().all(|case| case.executions.get("pay").is_none_or(|times| *times == 1)));
    let plain = &report.cases()[0];
    assert_eq!(plain.executions, BTreeMap::from([("pay".to_owned(), 1), ("search".to_owned(), 2)]));
    let hooks: Vec<_> = plain.hooks.iter().map(|run| (run.hook.as_str(), run.step, run.changes)).collect();
    assert_eq!(
        hooks,
        [
            ("brief", 1, 1),
            ("redact", 1, 1),
            ("redact", 1, 1),
            ("brief", 2, 2),
            ("redact", 2, 1),
            ("brief", 3, 2),
            ("sign", 3, 1),
        ]
    );
    Ok(())
}

/// The combinations in which an agent did something else than in its plain run.
async fn found_out(of: impl Fn(ScriptedModel) -> AgentBuilder) -> Result<(usize, usize, String), String> {
    match matrix().run(of).await {
        Err(MatrixError::Failed(report)) => {
            let said = MatrixError::Failed(report.clone()).to_string();
            Ok((report.failures().count(), report.cases().len(), said))
        }
        other => Err(format!("{other:?}")),
    }
}

#[tokio::test]
async fn d2_a_hook_that_remembers_in_its_process_is_found_out() -> Tested {
    let (failures, all, said) = found_out(|model| {
        let remembered = Log::new();
        let counted = remembered.clone();
        clerk(&model, &Counter::new())
            .after_tool("remember", move |observation: &mut ToolObservation<'_>| remembered.add(observation.tool()))
            .before_complete("tell", move |response: &mut FinalResponse<'_>| {
                let told = format!("I remember {} calls", counted.lines().len());
                response.set_text(told);
            })
    })
    .await?;
    assert!(failures > 0 && failures < all, "{said}");
    assert!(said.contains("a crash after commit") && said.contains("I remember 0 calls"), "{said}");
    assert!(said.contains("plain in memory, with pauses: "), "a pause is another process too: {said}");
    Ok(())
}

#[tokio::test]
async fn d2_a_hook_that_edits_the_conversation_once_a_process_is_found_out_though_the_answer_is_the_same() -> Tested {
    let (failures, all, said) = found_out(|model| {
        let noted = Counter::new();
        clerk(&model, &Counter::new()).before_model("note_once", move |request: &mut ModelRequest<'_>| {
            if noted.next() == 1 {
                request.history().push(Message::user("a note"));
            }
        })
    })
    .await?;
    assert!(failures > 0 && failures < all, "{said}");
    assert!(said.contains("message 4 is") && said.contains("a note") && !said.contains("the answer is {"), "{said}");
    assert!(said.contains("hook run that is kept"), "{said}");
    Ok(())
}

#[tokio::test]
async fn d2_a_hook_with_an_effect_that_must_not_be_repeated_is_found_out() -> Tested {
    let (_, _, said) = found_out(|model| {
        let sent = Counter::new();
        clerk(&model, &Counter::new()).before_model("once", move |request: &mut ModelRequest<'_>| {
            let step = usize::try_from(request.step()).unwrap_or_default();
            if sent.next() == step { Ok(()) } else { Err(Boom("the second letter")) }
        })
    })
    .await?;
    assert!(said.contains("boom at the second letter") || said.contains("`once`"), "{said}");
    Ok(())
}

#[tokio::test]
async fn d2_a_plain_run_that_fails_is_said_at_once() {
    let failed = matrix()
        .run(|model| {
            clerk(&model, &Counter::new())
                .before_complete("refuse", |_: &mut FinalResponse<'_>| Err::<(), _>("not like this"))
        })
        .await;
    assert!(matches!(failed, Err(MatrixError::Plain(_))), "{failed:?}");
    let unbuilt = matrix().run(|_| Agent::builder("no model")).await;
    assert!(matches!(unbuilt, Err(MatrixError::Build(_))), "{unbuilt:?}");
}

#[tokio::test]
async fn d4_approvals_and_questions_are_answered_on_the_way() -> Tested {
    let script =
        [Reply::call("ask_user", json!({ "question": "Which?" })), Reply::call("pay", json!({})), Reply::text("ok")];
    let report = Matrix::new("Pay.", script)
        .reply("the lamps")
        .run(|model| {
            agent(&model)
                .ask_user()
                .dyn_tool(effect("pay", &Counter::new()))
                .policy(CapabilityPolicy::new().require_approval("pay"))
                .before_complete("tell", |response: &mut FinalResponse<'_>| {
                    let seen: Vec<Value> =
                        response.receipts().iter().filter_map(|kept| kept.result().cloned()).collect();
                    response.set_content(seen)
                })
        })
        .await?;
    assert!(report.answer().to_string().contains("\"count\":1"), "{}", report.answer());
    Ok(())
}

/// A store that loses a run which is given back in this state: `Running` where its owner died, `Paused` where it waits
/// for a person.
struct Loses(RunState, MemoryStore);

#[async_trait]
impl RunStore for Loses {
    async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError> {
        self.1.create(run, first, ttl).await
    }

    async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError> {
        self.1.acquire(run_id, ttl).await
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
        self.1.renew(lease, ttl).await
    }

    async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError> {
        self.1.append(lease, row, state).await
    }

    async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError> {
        self.1.load(run_id).await
    }

    async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError> {
        self.1.list(filter, page).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        let run_id = lease.run_id().clone();
        self.1.release(lease).await?;
        if self.1.load(&run_id).await?.summary.state == self.0 {
            self.1.delete(&run_id).await?;
        }
        Ok(())
    }

    async fn delete(&self, run_id: &RunId) -> Result<bool, StoreError> {
        self.1.delete(run_id).await
    }

    async fn prune(&self, ended_before: Timestamp) -> Result<u64, StoreError> {
        self.1.prune(ended_before).await
    }
}

#[tokio::test]
async fn d2_a_tool_that_ran_twice_for_one_action_is_listed() -> Tested {
    let script = [Reply::call("pay", json!({})), Reply::text("done")];
    let run = Matrix::new("Pay.", script)
        .store("forgetful", Loses(RunState::Running, MemoryStore::new()))
        .run(|model| agent(&model).dyn_tool(pay(&Counter::new())));
    let Err(MatrixError::Failed(report)) = run.await else { panic!("it ran twice") };
    assert!(report.failures().all(|(case, fault)| {
        case.combination.store == "forgetful" && fault.contains("the store lost the run, which was begun again")
    }));
    let twice = |(_, fault): &(&MatrixCase, String)| fault.contains("`pay` ran twice for one action");
    assert!(report.failures().filter(twice).count() > 0, "{report}");
    Ok(())
}

#[tokio::test]
async fn d3_an_idempotent_tool_may_run_twice_for_one_action() -> Tested {
    let script = [Reply::call("pay", json!({})), Reply::text("done")];
    let report =
        Matrix::new("Pay.", script).run(|model| agent(&model).dyn_tool(pay(&Counter::new()).idempotent())).await?;
    assert!(report.cases().iter().any(|case| case.executions.get("pay") == Some(&2)), "{report}");
    Ok(())
}

#[tokio::test]
async fn d4_a_store_that_loses_what_waits_is_said_and_left_soon() -> Tested {
    let processes = Counter::new();
    let run = matrix().store("loses", Loses(RunState::Paused, MemoryStore::new())).run(|model| {
        processes.up();
        clerk(&model, &Counter::new())
    });
    let Err(MatrixError::Failed(report)) = run.await else { panic!("what waits is lost") };
    for (case, fault) in report.failures() {
        assert!(case.combination.store == "loses" && case.combination.pause, "{}: {fault}", case.combination);
        assert!(fault.contains("the store lost the run again"), "{fault}");
    }
    assert!(report.failures().count() > 0);
    assert!(processes.get() < 4 * report.cases().len(), "{} processes", processes.get());
    Ok(())
}

/// Tools that are not idempotent, and do not succeed: one fails, and one says that it did nothing.
fn unlucky(builder: AgentBuilder) -> AgentBuilder {
    let fails = failing_tool("pay").on_error(OnError::Report);
    let schema = json!({ "type": "object" });
    let refuses = DynTool::new("book", "Refuses.", schema, |_, _| async {
        Err::<Value, _>(ToolError::rejected("there is no such seat"))
    });
    builder.dyn_tool(fails).dyn_tool(refuses)
}

#[tokio::test]
async fn d3_tools_that_fail_or_refuse_come_to_the_same_in_every_combination() -> Tested {
    let script = [Reply::calls([("pay", json!({})), ("book", json!({}))]), Reply::text("neither")];
    let report = Matrix::new("Pay, and book.", script).run(|model| unlucky(agent(&model))).await?;
    let times =
        |tool: &str| report.cases().iter().all(|case| case.executions.get(tool).is_none_or(|times| *times == 1));
    assert!(times("pay") && times("book"), "{report}");
    Ok(())
}
