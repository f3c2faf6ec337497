//! Values are kept exactly or refused.

use std::error::Error as StdError;

use protolink::durable::{MemoryStore, RunStore};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{BoxFuture, CancellationToken, DynTool, ToolOutcome, ValueError};
use protolink_tests::{Counter, Log, Path, agent, agent_once, assert_paired, drain, said, search_tool, value_tool};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

type Tested = Result<(), Box<dyn StdError>>;

/// A value whose `Serialize` fails.
#[derive(Debug, Clone, Default, Deserialize)]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom("it cannot be written"))
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Reading {
    value: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    broken: Option<Unwritable>,
}

/// Read a sensor.
#[tool]
fn read(State(mood): State<Mood>) -> Reading {
    mood.effects.up();
    let value = if mood.kind == "nan" { f64::NAN } else { 1.5 };
    Reading { value, broken: (mood.kind == "unwritable").then_some(Unwritable) }
}

#[derive(Clone)]
struct Mood {
    kind: &'static str,
    effects: Counter,
}

#[derive(Clone, FromRef)]
struct App {
    mood: Mood,
}

fn app(kind: &'static str) -> (App, Counter) {
    let effects = Counter::new();
    (App { mood: Mood { kind, effects: effects.clone() } }, effects)
}

#[after_tool(tool = read)]
fn sets_nan(observation: &mut ToolObservation<'_, Reading>) {
    observation.result_mut().value = f64::NAN;
}

#[after_tool(tool = read)]
async fn sets_unwritable(observation: &mut ToolObservation<'_, Reading>) {
    tokio::task::yield_now().await;
    observation.result_mut().broken = Some(Unwritable);
}

#[before_complete]
fn answers_nan(response: &mut FinalResponse<'_>) -> Result<(), ValueError> {
    response.set_content(json!({ "fine": 1 }))?;
    response.set_content(f64::NEG_INFINITY)
}

#[before_complete]
async fn answers_unwritable(response: &mut FinalResponse<'_>) -> Result<(), ValueError> {
    tokio::task::yield_now().await;
    response.set_content(vec![Some(Unwritable)])
}

#[before_complete]
fn answers_beyond_64_bits(response: &mut FinalResponse<'_>) -> Result<(), BoxError> {
    Ok(response.set_content(u128::from(u64::MAX) + 1)?)
}

#[tokio::test]
async fn t7_r45_what_a_hook_cannot_give_is_refused_under_its_name_before_any_event() -> Tested {
    for durable in [false, true] {
        let model = || ScriptedModel::new([Reply::call("read", json!({})), Reply::text("done")]);
        let builder = || {
            let builder = agent(&model()).state(app("fine").0).tools(tools![read]);
            if durable { builder.durable(MemoryStore::new()) } else { builder }
        };
        let agents = [
            ("sets_nan", builder().hooks(hooks![sets_nan]).build()?),
            ("sets_unwritable", builder().hooks(hooks![sets_unwritable]).build()?),
            ("answers_nan", builder().hooks(hooks![answers_nan]).build()?),
            ("answers_unwritable", builder().hooks(hooks![answers_unwritable]).build()?),
            ("answers_beyond_64_bits", builder().hooks(hooks![answers_beyond_64_bits]).build()?),
        ];
        for (name, agent) in agents {
            let ended = drain(agent.run("go").stream()).await;
            let Err(Error::HookValue { hook, .. }) = &ended.result else { panic!("{name}: {:?}", ended.result) };
            assert_eq!(hook, name);
            let told = ended.events.iter().any(|event| {
                matches!(event, RunEvent::HookRan { hook, .. } if hook == name)
                    || matches!(event, RunEvent::Completed(_))
            });
            assert!(!told, "{name}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn t7_r45_a_refused_value_that_the_hook_ignores_leaves_the_answer_as_it_was() -> Tested {
    let agent = agent(&ScriptedModel::new([Reply::text("as it was")]))
        .before_complete("ignores", |response: &mut FinalResponse<'_>| {
            assert_eq!(response.set_content(f64::NAN), Err(ValueError::NotFinite));
        })
        .build()?;
    assert_eq!(agent.invoke("go").await?.text(), "as it was");
    Ok(())
}

#[tokio::test]
async fn t7_r46_a_tools_effect_is_on_record_when_its_result_cannot_be_kept() -> Tested {
    for kind in ["nan", "unwritable"] {
        let (state, effects) = app(kind);
        let store = MemoryStore::new();
        let model = ScriptedModel::new([Reply::call("read", json!({})), Reply::text("done")]);
        let agent = agent(&model).state(state).tools(tools![read]).durable(store.clone()).build()?;
        let Err(Error::ToolValue { action_id, tool, .. }) = agent.run("go").run_id(kind).await else {
            panic!("{kind}")
        };
        assert_eq!((tool.as_str(), effects.get()), ("read", 1));
        let receipted = store.load(&kind.into()).await?.rows.iter().any(|row| row.payload.contains("receipted"));
        assert!(receipted, "the effect is on record");
        let Err(Error::Uncertain { action_id: waits, .. }) = agent.resume(kind).await else { panic!("{kind}") };
        assert_eq!(waits, action_id);
        agent.reconcile(kind, &action_id, Reading { value: 2.5, broken: None }).await?;
        let outcome = agent.resume(kind).await?;
        assert_eq!((outcome.answer().map(Answer::text), effects.get()), (Some("done"), 1));
        let requests = model.requests();
        assert_eq!(requests[1].messages[1].calls()[0].outcome.observed(), Some(&json!({ "value": 2.5 })));
    }
    Ok(())
}

#[tokio::test]
async fn t7_r47_false_zero_empty_and_null_are_results_like_any_other() -> Tested {
    for value in [json!(false), json!(0), json!(""), Value::Null, json!([]), json!({}), json!(0.0), json!(-0.0)] {
        for path in Path::ALL {
            for durable in [false, true] {
                let log = Log::new();
                let seen = log.clone();
                let model = ScriptedModel::new([Reply::call("gives", json!({})), Reply::text("done")]);
                let builder = agent_once(&model).dyn_tool(value_tool("gives", value.clone()));
                let builder = if durable { builder.durable(MemoryStore::new()) } else { builder };
                let agent = builder
                    .after_tool("sees", move |observation: &mut ToolObservation<'_>| {
                        seen.add(observation.result().to_string());
                    })
                    .build()?;
                path.run(&agent, "go").await.result?;
                assert_eq!(log.lines(), [value.to_string()], "{path:?}");
                let requests = model.requests();
                let outcome = &requests[1].messages[1].calls()[0].outcome;
                assert_eq!(outcome.observed(), Some(&value));
                assert!(!outcome.is_error());
            }
        }
        // A hook that makes one of them of something is believed.
        let model = ScriptedModel::new([Reply::call("gives", json!({})), Reply::text("done")]);
        let (store, made) = (MemoryStore::new(), value.clone());
        let agent = agent_once(&model)
            .dyn_tool(value_tool("gives", json!("something")))
            .after_tool("makes", move |observation: &mut ToolObservation<'_>| *observation.result_mut() = made.clone())
            .before_complete("answers", {
                let value = value.clone();
                move |response: &mut FinalResponse<'_>| response.set_content(&value)
            })
            .durable(store)
            .build()?;
        let mut conversation = agent.conversation_id("c").await?;
        let answer = conversation.invoke("go").await?;
        assert_eq!(answer.content(), &value);
        let reloaded = agent.conversation_id("c").await?;
        assert_eq!(reloaded.messages()[1].calls()[0].outcome.observed(), Some(&value));
        assert_eq!(said(reloaded.messages()), said(conversation.messages()));
    }
    Ok(())
}

#[tokio::test]
async fn t7_r49_arguments_are_exact_and_an_approval_covers_its_own_only() -> Tested {
    let arguments = [
        json!({ "n": 9_007_199_254_740_993_u64 }),
        json!({ "n": 18_446_744_073_709_551_615_u64 }),
        json!({ "n": 9_007_199_254_740_992_u64 }),
        json!({ "n": 1 }),
        json!({ "n": 1.0 }),
        json!({ "n": true }),
        json!({ "n": "1" }),
        json!({}),
    ];
    let log = Log::new();
    let mut waiting = Vec::new();
    for (number, arguments) in arguments.iter().enumerate() {
        let seen = log.clone();
        let model = ScriptedModel::new([Reply::call("eff", arguments.clone()), Reply::text("done")]);
        let eff = DynTool::new("eff", "", json!({ "type": "object" }), move |arguments, _| {
            seen.add(arguments.to_string());
            async { Ok::<_, ToolError>(json!(1)) }
        });
        let agent = agent(&model)
            .dyn_tool(eff.capability("eff"))
            .policy(CapabilityPolicy::new().require_approval("eff"))
            .durable(MemoryStore::new())
            .build()?;
        let outcome = agent.run("go").run_id(format!("r{number}")).await?;
        let waits = outcome.interruption().cloned().expect("it waits");
        assert_eq!(waits.arguments().map(ToString::to_string), Some(arguments.to_string()));
        waiting.push((agent, waits));
    }
    for (index, (agent, waits)) in waiting.iter().enumerate() {
        for (other, (_, another)) in waiting.iter().enumerate() {
            if index == other {
                continue;
            }
            assert_ne!(waits.digest, another.digest, "{} and {}", arguments[index], arguments[other]);
            let mut forged = waits.clone();
            forged.digest = another.digest;
            let refused = agent.resume(&waits.run_id).approve(&forged).await;
            assert!(matches!(refused, Err(Error::StaleResponse { .. })), "{refused:?}");
        }
        assert!(log.take().is_empty(), "nothing ran");
        let _ = agent.resume(&waits.run_id).approve(waits).await?;
        assert_eq!(log.take(), [arguments[index].to_string()], "it is given exactly what was approved");
    }
    Ok(())
}

/// Take the time.
#[tool]
fn clock() -> String {
    "noon".to_owned()
}

/// Greet somebody.
#[tool]
fn greet(name: Option<String>, #[default("hello".to_owned())] word: String) -> String {
    [word, name.unwrap_or_else(|| "you".to_owned())].join(" ")
}

#[tokio::test]
async fn m9_r50_no_arguments_are_an_empty_object() -> Tested {
    for arguments in [Value::Null, json!({})] {
        let model = ScriptedModel::new([
            Reply::calls([("clock", arguments.clone()), ("greet", arguments.clone()), ("dynamic", arguments)]),
            Reply::text("done"),
        ]);
        let agent = agent(&model).tools(tools![clock, greet]).dyn_tool(search_dynamic()).build()?;
        agent.invoke("go").await?;
        let requests = model.requests();
        let seen: Vec<_> = requests[1].messages[1].calls().iter().map(|x| x.outcome.to_model_text()).collect();
        assert_eq!(seen, ["noon", "hello you", "{}"]);
    }
    Ok(())
}

fn search_dynamic() -> DynTool {
    DynTool::new(
        "dynamic",
        "",
        json!({ "type": "object" }),
        |arguments, _| async move { Ok::<_, ToolError>(arguments) },
    )
}

#[tokio::test]
async fn s7_r51_a_run_that_is_cancelled_in_a_hook_leaves_a_clean_conversation() -> Tested {
    for durable in [false, true] {
        let (token, entered) = (CancellationToken::new(), CancellationToken::new());
        let sign = entered.clone();
        let model = ScriptedModel::new([Reply::call("search", json!({})), Reply::text("done")]);
        let builder = agent(&model).dyn_tool(search_tool());
        let builder = if durable { builder.durable(MemoryStore::new()) } else { builder };
        let agent = builder
            .after_tool("waits", move |_: &mut ToolObservation<'_>| -> BoxFuture<'static, ()> {
                let sign = sign.clone();
                Box::pin(async move {
                    sign.cancel();
                    std::future::pending::<()>().await;
                })
            })
            .build()?;
        let mut conversation = agent.conversation();
        let (result, ()) = tokio::join!(conversation.run("go").cancel(token.clone()), async {
            entered.cancelled().await;
            token.cancel();
        });
        assert!(matches!(result, Err(Error::Cancelled { step: 1, .. })), "{result:?}");
        assert!(matches!(conversation.messages()[1].calls()[0].outcome, ToolOutcome::Withheld { .. }));
        assert_eq!(conversation.invoke("again").await?.text(), "done");
        assert_paired(conversation.messages());
        assert_eq!(said(conversation.messages())[2..], ["user: again", "assistant: done"]);
    }
    Ok(())
}
