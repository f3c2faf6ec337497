//! A denying policy, a removed tool and a failing hook hold on each path, for typed and dynamic tools, for one call a
//! turn and for several, with a store and without.

use std::error::Error as StdError;

use protolink::durable::MemoryStore;
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentBuilder, Stage, ToolOutcome};
use protolink_tests::{Boom, Counter, Path, agent, assert_paired, effect};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

/// Have an effect.
#[tool(name = "pay", type = Pay, capability = "pay")]
fn pay(State(counter): State<Counter>) -> usize {
    counter.next()
}

#[derive(Clone, FromRef)]
struct App {
    counter: Counter,
}

/// One way in which the tool `pay` can be there, be called and be driven.
#[derive(Debug, Clone, Copy)]
struct Case {
    path: Path,
    typed: bool,
    calls: usize,
    durable: bool,
}

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        let bools = [false, true];
        Path::ALL.into_iter().flat_map(move |path| {
            bools.into_iter().flat_map(move |typed| {
                [1, 3]
                    .into_iter()
                    .flat_map(move |calls| bools.into_iter().map(move |durable| Self { path, typed, calls, durable }))
            })
        })
    }

    /// A model that calls `pay` as often as the case says in one turn, beside a call that is fine, and then answers.
    fn model(self) -> ScriptedModel {
        let calls = std::iter::repeat_n(("pay", json!({})), self.calls).chain([("fine", json!({}))]);
        ScriptedModel::new([Reply::calls(calls), Reply::text("done")])
    }

    fn agent(
        self,
        model: &ScriptedModel,
        paid: &Counter,
        fine: &Counter,
        more: impl FnOnce(AgentBuilder<App>) -> AgentBuilder<App>,
    ) -> Result<Agent, protolink::BuildError> {
        let builder = agent(model).max_tool_corrections(5).state(App { counter: paid.clone() });
        let builder = if self.typed { builder.tools(tools![Pay]) } else { builder.dyn_tool(effect("pay", paid)) };
        let builder = builder.dyn_tool(effect("fine", fine));
        let builder = if self.durable { builder.durable(MemoryStore::new()) } else { builder };
        more(builder).build()
    }
}

#[tokio::test]
async fn p1_a_denying_policy_holds_on_every_path() -> Tested {
    for case in Case::all() {
        let (model, paid, fine) = (case.model(), Counter::new(), Counter::new());
        let agent = case.agent(&model, &paid, &fine, |builder| builder.policy(CapabilityPolicy::new().deny("pay")))?;
        let answer = case.path.run(&agent, "go").await.result?;
        assert_eq!((answer.text(), paid.get(), fine.get()), ("done", 0, 1), "{case:?}");
        let turn = &model.requests()[1].messages[1];
        assert_paired(std::slice::from_ref(turn));
        let denied = turn.calls().iter().filter(|exchange| matches!(exchange.outcome, ToolOutcome::Denied(_)));
        assert_eq!(denied.count(), case.calls, "{case:?}");
    }
    Ok(())
}

#[tokio::test]
async fn m9_a_removed_tool_is_gone_on_every_path() -> Tested {
    for case in Case::all() {
        let (model, paid, fine) = (case.model(), Counter::new(), Counter::new());
        let agent = case.agent(&model, &paid, &fine, |builder| {
            builder.before_model("removes", |request: &mut ModelRequest<'_>| {
                request.tools().remove_named("pay");
            })
        })?;
        let answer = case.path.run(&agent, "go").await.result?;
        assert_eq!((answer.text(), paid.get(), fine.get()), ("done", 0, 1), "{case:?}");
        let requests = model.requests();
        assert!(requests.iter().all(|request| request.tool_names() == ["fine"]), "{case:?}");
        let turn = &requests[1].messages[1];
        assert_paired(std::slice::from_ref(turn));
        let refused = turn.calls().iter().filter(|exchange| matches!(exchange.outcome, ToolOutcome::Rejected(_)));
        assert_eq!(refused.count(), case.calls, "{case:?}");
    }
    Ok(())
}

#[tokio::test]
async fn s5_a_failing_hook_stops_the_run_on_every_path() -> Tested {
    for case in Case::all() {
        for stage in [Stage::BeforeModel, Stage::AfterTool, Stage::BeforeComplete] {
            let (model, paid, fine) = (case.model(), Counter::new(), Counter::new());
            let agent = case.agent(&model, &paid, &fine, |builder| match stage {
                Stage::BeforeModel => {
                    builder.before_model("fails", |_: &mut ModelRequest<'_>| Err::<(), _>(Boom("hook")))
                }
                Stage::AfterTool => {
                    builder.after_tool("fails", |_: &mut ToolObservation<'_>| Err::<(), _>(Boom("hook")))
                }
                Stage::BeforeComplete => {
                    builder.before_complete("fails", |_: &mut FinalResponse<'_>| Err::<(), _>(Boom("hook")))
                }
            })?;
            let ended = case.path.run(&agent, "go").await;
            let Err(Error::Hook { stage: at, source, .. }) = ended.result else {
                panic!("{case:?}: {:?}", ended.result)
            };
            assert_eq!((at, source.downcast_ref()), (stage, Some(&Boom("hook"))), "{case:?}");
            let (requests, effects) = match stage {
                Stage::BeforeModel => (0, 0),
                Stage::AfterTool => (1, case.calls),
                Stage::BeforeComplete => (2, case.calls),
            };
            assert_eq!((model.request_count(), paid.get()), (requests, effects), "{stage} in {case:?}");
            assert!(!ended.events.iter().any(|event| matches!(event, RunEvent::Completed(_))), "{case:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn s8_a_direct_call_is_refused_by_the_policy_too() -> Tested {
    for case in Case::all().filter(|case| case.path == Path::Plain && case.calls == 1) {
        let (model, paid, fine) = (case.model(), Counter::new(), Counter::new());
        let agent = case.agent(&model, &paid, &fine, |builder| builder.policy(CapabilityPolicy::new().deny("pay")))?;
        assert!(matches!(agent.call_tool("pay", json!({})).await, Err(Error::CallRefused { .. })), "{case:?}");
        let blocking = agent.clone();
        let thread = std::thread::spawn(move || {
            let blocked = blocking.blocking();
            blocked.block_on(blocking.call_tool("pay", json!({})))
        });
        let refused = thread.join().expect("the call does not panic");
        assert!(matches!(refused, Err(Error::CallRefused { .. })), "{case:?}: {refused:?}");
        assert_eq!((paid.get(), model.request_count()), (0, 0));
    }
    Ok(())
}
