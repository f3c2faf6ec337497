//! What an application is told: kinds and runs of errors, names, and the texts of what it prints.

use std::error::Error as StdError;
use std::time::{Duration, Instant};

use protolink::durable::{MemoryStore, StoreError};
use protolink::model::ModelError;
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{
    AgentHooks, BuildError, Digest, DynTool, Fingerprint, NoState, RunEvent, RunId, Stage, ToolCall, ToolContext,
    ToolError, UnknownFingerprint,
};
use protolink_tests::{Boom, Log, agent, agent_once, drain, effect, said, sent, value_tool};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

/// Errors that are about a run, each with its kind.
fn errors_of_a_run(run_id: &RunId) -> Vec<(&'static str, Error)> {
    let run_id = || run_id.clone();
    let (tool, hook, step, limit) = ("pay".to_owned(), "checks".to_owned(), 2, 3);
    vec![
        ("hook", {
            let (stage, source) = (Stage::AfterTool, Box::new(Boom("hook")).into());
            Error::Hook { run_id: run_id(), stage, hook: hook.clone(), step, source }
        }),
        ("empty_request", Error::EmptyRequest { run_id: run_id(), stage: Stage::BeforeModel, step }),
        ("model", {
            Error::Model { run_id: run_id(), step, attempts: 1, source: ModelError::permanent("no such model") }
        }),
        ("model_panicked", Error::ModelPanicked { run_id: run_id(), step, message: "oh".to_owned() }),
        ("truncated", Error::Truncated { run_id: run_id(), step }),
        ("tool", {
            let (call_id, source) = ("c".to_owned(), Box::new(Boom("tool")).into());
            Error::Tool { run_id: run_id(), tool: tool.clone(), call_id, step, source }
        }),
        ("tool_corrections", Error::ToolCorrections { run_id: run_id(), step, limit }),
        ("revisions_not_allowed", Error::RevisionsNotAllowed { run_id: run_id(), hook, step }),
        ("revisions", Error::Revisions { run_id: run_id(), step, limit }),
        ("approval_unavailable", Error::ApprovalUnavailable { run_id: run_id(), tool: tool.clone(), step }),
        ("cancelled", Error::Cancelled { run_id: run_id(), step }),
        ("contract_changed", Error::ContractChanged { run_id: run_id(), changes: Vec::new() }),
        ("stale_response", Error::StaleResponse { run_id: run_id(), reason: "it was answered" }),
        ("not_resumable", Error::NotResumable { run_id: run_id(), reason: "it is completed" }),
        ("run_panicked", Error::RunPanicked { run_id: run_id(), message: "oh".to_owned() }),
        ("run_busy", Error::RunBusy { run_id: run_id() }),
        ("conversation_open", Error::ConversationOpen { conversation: "c".to_owned(), run_id: run_id() }),
        ("call_refused", Error::CallRefused { run_id: run_id(), tool, reason: "no".to_owned() }),
        ("store", Error::Store(StoreError::Closed { run_id: Some(run_id()) })),
    ]
}

#[test]
fn p3_an_error_says_its_kind_in_a_word_and_which_run_it_is_about() {
    let run_id = RunId::from("run-7");
    for (kind, error) in errors_of_a_run(&run_id) {
        assert_eq!((error.kind(), error.run_id()), (kind, Some(&run_id)), "{error}");
        assert!(kind == "store" || error.to_string().contains("run-7"), "{error}");
    }
}

#[test]
fn p3_an_error_that_is_about_no_run_says_so() {
    let (agent, tool) = ("desk".to_owned(), "pay".to_owned());
    let of_none = [
        ("empty_run_id", Error::EmptyRunId),
        ("no_store", Error::NoStore { agent: agent.clone() }),
        ("unknown_tool", Error::UnknownTool { agent, tool }),
        ("blocking_in_runtime", Error::BlockingInRuntime),
        ("no_runtime", Error::NoRuntime(std::io::Error::other("no threads"))),
        ("store", Error::Store(StoreError::Closed { run_id: None })),
    ];
    for (kind, error) in of_none {
        assert_eq!((error.kind(), error.run_id()), (kind, None), "{error}");
    }
}

#[test]
fn d6_a_fingerprint_reads_as_it_prints_and_nothing_else_does() -> Tested {
    let text = format!("fp1:{}", "0a".repeat(32));
    let fingerprint: Fingerprint = text.parse()?;
    assert_eq!((fingerprint.to_string(), format!("{fingerprint:?}")), (text.clone(), text.clone()));
    let json = serde_json::to_string(&fingerprint)?;
    assert_eq!((json.as_str(), serde_json::from_str::<Fingerprint>(&json)?), (&*format!("{text:?}"), fingerprint));
    assert_eq!(text.replace('a', "A").parse(), Ok(fingerprint));
    let [letter, sign] = ["0g", "+a"].map(|digits| text.replacen("0a", digits, 1));
    for wrong in ["", "fp1:", "fp2:00", &text[..67], &format!("{text}0"), &letter, &sign, &text[4..]] {
        assert_eq!(wrong.parse::<Fingerprint>(), Err(UnknownFingerprint), "{wrong}");
        assert!(serde_json::from_value::<Fingerprint>(json!(wrong)).is_err(), "{wrong}");
    }
    // As many bytes as the digits, and none of them a digit's.
    assert_eq!(format!("fp1:{}", "é".repeat(32)).parse::<Fingerprint>(), Err(UnknownFingerprint));
    Ok(())
}

#[test]
fn a_digest_reads_as_it_prints_and_nothing_else_does() -> Tested {
    let digest = Digest::of(b"abc");
    let text = digest.to_string();
    assert_eq!(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(digest.as_bytes()[..3], [0xba, 0x78, 0x16]);
    assert_eq!(serde_json::from_value::<Digest>(json!(text))?, digest);
    for wrong in [&text[..63], &format!("{text}0"), &text.replace('b', "x"), &"é".repeat(32)] {
        assert!(serde_json::from_value::<Digest>(json!(wrong)).is_err(), "{wrong}");
    }
    Ok(())
}

#[tokio::test]
async fn m6_a_retry_waits_as_long_as_it_says() -> Tested {
    let wait = Duration::from_millis(40);
    let model = ScriptedModel::new([Reply::transient("503").retry_after(wait), Reply::text("done")]);
    let agent = Agent::builder("waits").model(model).build()?;
    let began = Instant::now();
    let ended = drain(agent.run("go").stream()).await;
    assert_eq!(ended.result?.text(), "done", "a wait is no cancellation");
    assert!(began.elapsed() >= wait, "{:?}", began.elapsed());
    let waits: Vec<_> = ended
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::ModelRetried { wait, .. } => Some(*wait),
            _ => None,
        })
        .collect();
    assert_eq!(waits, [wait]);
    Ok(())
}

#[tokio::test]
async fn m4_a_hook_can_ask_which_tools_are_there() -> Tested {
    /// Find it.
    #[tool]
    fn find(query: String) -> String {
        query
    }
    let seen = Log::new();
    let hook = seen.clone();
    let model = ScriptedModel::new([Reply::text("done")]);
    let agent = agent_once(&model)
        .tools(tools![find])
        .dyn_tool(value_tool("look", json!(1)))
        .before_model("asks", move |request: &mut ModelRequest<'_>| {
            let mut tools = request.tools();
            let tell = |tools: &protolink::ToolsMut<'_>| {
                let named = (tools.contains_named("find"), tools.contains_named("look"), tools.contains_named("none"));
                hook.add(format!("{} {named:?} {} {}", tools.contains::<find>(), tools.len(), tools.is_empty()));
            };
            tell(&tools);
            tools.remove::<find>();
            tell(&tools);
            tools.retain(|_| false);
            tell(&tools);
        })
        .build()?;
    agent.invoke("go").await?;
    let lines = ["true (true, true, false) 2 false", "false (false, true, false) 1 false"];
    assert_eq!(seen.lines(), [lines[0], lines[1], "false (false, false, false) 0 true"]);
    Ok(())
}

#[tokio::test]
async fn t1_a_hook_of_one_tool_is_not_said_to_have_run_for_another() -> Tested {
    /// Find it.
    #[tool]
    fn find(query: String) -> String {
        query
    }
    #[after_tool(tool = find)]
    fn shout(observation: &mut ToolObservation<'_, String>) {
        observation.result_mut().make_ascii_uppercase();
    }
    let model = ScriptedModel::new([
        Reply::call("look", json!({})),
        Reply::call("find", json!({ "query": "a" })),
        Reply::text("done"),
    ]);
    let agent =
        agent(&model).tools(tools![find]).dyn_tool(value_tool("look", json!("x"))).hooks(hooks![shout]).build()?;
    let ended = drain(agent.run("go").stream()).await;
    let ran = ended.events.iter().filter_map(|event| match event {
        RunEvent::HookRan { step, .. } => Some(*step),
        _ => None,
    });
    assert_eq!(ran.collect::<Vec<_>>(), [2]);
    Ok(())
}

#[tokio::test]
async fn a_tool_knows_its_call_and_its_run() -> Tested {
    let place = DynTool::new(
        "place",
        "Says where it runs.",
        json!({ "type": "object" }),
        |_, context: ToolContext| async move {
            let (call_id, step, is_cancelled) = (context.call_id(), context.step(), context.is_cancelled());
            let run = context.run();
            let (run_id, agent, session) = (run.run_id(), run.agent(), run.session());
            Ok::<_, ToolError>(json!(format!("{call_id} {step} {run_id} {agent} {session:?} {is_cancelled}")))
        },
    );
    let model = ScriptedModel::new([Reply::call_with_id("c-1", "place", json!({})), Reply::text("done")]);
    let agent = agent(&model).dyn_tool(place).durable(MemoryStore::new()).build()?;
    let mut conversation = agent.conversation_id("desk-4").await?;
    assert_eq!(conversation.id(), Some("desk-4"));
    let outcome = conversation.run("go").run_id("r-1").await?;
    assert!(outcome.answer().is_some());
    assert!(
        sent(&model.requests()[1])[1].contains(r#"c-1 1 r-1 tester Some("desk-4") false"#),
        "{:?}",
        sent(&model.requests()[1])
    );
    Ok(())
}

#[tokio::test]
async fn a_pause_says_in_words_what_it_waits_for() -> Tested {
    let model = ScriptedModel::new([Reply::call("pay", json!({}))]);
    let agent = agent(&model)
        .dyn_tool(effect("pay", &protolink_tests::Counter::new()))
        .policy(CapabilityPolicy::new().require_approval("pay"))
        .durable(MemoryStore::default())
        .build()?;
    let outcome = agent.run("go").run_id("r-1").await?;
    let Outcome::Interrupted(waits) = &outcome else { panic!("it waits: {outcome:?}") };
    assert_eq!(waits.to_string(), "run `r-1` waits for approval of a call of `pay`");
    assert!(outcome.answer().is_none());
    Ok(())
}

#[test]
fn what_is_printed_for_debugging_tells_what_it_is_and_shows_no_content() -> Tested {
    let model = ScriptedModel::new([]);
    let agent = agent(&model).instructions("s3cret").build()?;
    let group: AgentHooks<NoState> = AgentHooks::default().before_model("trims", |_: &mut ModelRequest<'_>| ());
    let printed = [
        format!("{:?}", agent.conversation()),
        format!("{:?}", agent.run("s3cret").run_id("r-1")),
        format!("{:?}", MemoryStore::new()),
        format!("{group:?}"),
    ];
    for (text, told) in printed.iter().zip(["tester", "r-1", "commits: 0", "trims"]) {
        assert!(text.contains(told) && !text.contains("s3cret"), "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn an_error_from_a_build_is_an_error_of_its_run() {
    let built =
        agent(&ScriptedModel::new([])).dyn_tool(value_tool("a", json!(1))).dyn_tool(value_tool("a", json!(2))).build();
    let error = built.map_err(Error::from).map(|_| ()).expect_err("two tools have one name");
    assert_eq!((error.kind(), error.run_id()), ("build", None));
    assert!(matches!(error, Error::Build(BuildError::DuplicateTool { .. })), "{error:?}");
}

#[tokio::test]
async fn a_started_run_has_its_id_before_it_ends() -> Tested {
    let model = ScriptedModel::new([Reply::text("done")]);
    let handle = agent(&model).build()?.run("go").run_id("r-9").start();
    assert_eq!(*handle.run_id(), *"r-9");
    let outcome = handle.result().await?;
    assert_eq!(outcome.answer().map(Answer::text), Some("done"));
    Ok(())
}

#[tokio::test]
async fn s5_a_strict_run_shows_each_hook_the_same_twice_and_keeps_its_edits_once() -> Tested {
    let model = ScriptedModel::new([Reply::call("look", json!({})), Reply::text("done")]);
    let agent = agent(&model)
        .strict(true)
        .dyn_tool(value_tool("look", json!("x")))
        .dyn_tool(value_tool("other", json!(1)))
        .before_model("removes", |request: &mut ModelRequest<'_>| {
            assert!(request.tools().remove_named("other"), "it is there each time");
            request.history().push(Message::user("noted"));
        })
        .after_tool("adds", |observation: &mut ToolObservation<'_>| {
            let longer = format!("{}!", observation.result().as_str().unwrap_or_default());
            *observation.result_mut() = json!(longer);
        })
        .build()?;
    agent.invoke("go").await?;
    let requests = model.requests();
    assert_eq!(requests[0].tool_names(), ["look"]);
    assert_eq!(sent(&requests[1]), ["user: go", "user: noted", "assistant: look({}) = x!", "user: noted"]);
    Ok(())
}

#[tokio::test]
async fn m2_a_hook_reads_its_own_edits_and_the_originals() -> Tested {
    let model = ScriptedModel::new([
        Reply::calls([ToolCall::new("c-1", "look", json!({})), ToolCall::new("c-2", "look", json!({}))]),
        Reply::text("done"),
    ]);
    let agent = agent(&model)
        .dyn_tool(value_tool("look", json!("long")))
        .before_model("reads", |request: &mut ModelRequest<'_>| {
            let step = request.step();
            let mut history = request.history();
            assert!(!history.is_empty() && history.get(99).is_none());
            assert_eq!(history.get(0).and_then(Message::text), Some("go"));
            if step < 2 {
                return;
            }
            history.edit(1, |message| {
                assert_eq!(message.observed("c-1"), Some(&json!("long")));
                assert_eq!(message.set_observed("c-1", "short").ok(), Some(true));
                assert_eq!(message.set_observed("none", "short").ok(), Some(false));
                let seen = ["c-1", "c-2", "none"].map(|id| message.observed(id).cloned());
                assert_eq!(seen, [Some(json!("short")), Some(json!("long")), None]);
                assert_eq!(message.original().calls()[0].outcome.observed(), Some(&json!("long")));
            });
        })
        .build()?;
    let mut conversation = agent.conversation();
    conversation.invoke("go").await?;
    assert_eq!(said(conversation.messages())[1], "assistant: look({}) = short | look({}) = long");
    Ok(())
}

#[tokio::test]
async fn p3_the_events_of_a_started_run_are_a_stream_that_ends_with_it() -> Tested {
    let handle = agent(&ScriptedModel::new([Reply::text("done")])).build()?.run("go").start();
    let mut events = handle.events();
    let (mut told, mut last) = (0, None);
    while let Some(event) = events.next().await {
        told += 1;
        last = Some(event);
    }
    assert!(told > 2 && matches!(last, Some(RunEvent::Completed(_))), "{told} {last:?}");
    assert!(handle.result().await?.answer().is_some());
    Ok(())
}

#[tokio::test]
async fn s2_a_group_takes_annotated_hooks_by_their_names() -> Tested {
    #[before_model]
    fn notes(request: &mut ModelRequest<'_>) {
        request.history().push(Message::user("first"));
    }
    #[before_model]
    fn ends(request: &mut ModelRequest<'_>) {
        request.history().push(Message::user("second"));
    }
    let model = ScriptedModel::new([Reply::text("done")]);
    let group = AgentHooks::new().hook(notes {}).hooks(hooks![ends]);
    let agent = agent(&model).group(group).build()?;
    agent.invoke("go").await?;
    assert_eq!(sent(&model.requests()[0]), ["user: go", "user: first", "user: second"]);
    Ok(())
}
