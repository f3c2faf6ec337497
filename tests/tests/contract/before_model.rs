//! Section M of the contract: what a `before_model` hook is given, and what becomes of its edits.

use std::error::Error as StdError;

use protolink::durable::MemoryStore;
use protolink::prelude::*;
use protolink::testing::{RecordedRequest, Reply, RequestFixture, ScriptedModel};
use protolink::{
    Change, Exchange, HistoryMut, RunContext, Scope, Stage, ToolCall, ToolOutcome, ToolSpec, ToolsMut, Turn,
};
use protolink_tests::{
    Counter, Log, Path, agent, agent_once, assert_paired, drain, effect, not_impl, said, search_tool, sent, value_tool,
};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

fn call_then_answer() -> ScriptedModel {
    ScriptedModel::new([Reply::call("search", json!({})), Reply::text("done")])
}

/// A hook that removes this tool.
fn remove(tool: &'static str) -> impl Fn(&mut ModelRequest<'_>) + Send + Sync + 'static {
    move |request: &mut ModelRequest<'_>| {
        request.tools().remove_named(tool);
    }
}

/// A turn of the model with two calls that are answered.
fn turn_of_two() -> Message {
    let exchange = |id: &str, outcome| Exchange { call: ToolCall::new(id, "search", json!({ "q": id })), outcome };
    Message::Assistant(Turn::new(
        Some("let me see".to_owned()),
        vec![
            exchange("a", ToolOutcome::Observed(json!("first").into())),
            exchange("b", ToolOutcome::Failed("lost".to_owned())),
        ],
    ))
}

#[tokio::test]
async fn m1_a_hook_sees_history_tools_context_and_the_logical_step() -> Tested {
    let (log, seen) = (Log::new(), Log::new());
    let hook = seen.clone();
    // The provider fails in between: that is no step.
    let model = ScriptedModel::new([
        Reply::transient("503"),
        Reply::call("search", json!({})),
        Reply::transient("503"),
        Reply::text("done"),
    ]);
    let agent = agent_once(&model)
        .instructions("Be brief.")
        .dyn_tool(search_tool())
        .before_model("sees", move |request: &mut ModelRequest<'_>| {
            let (step, user) = (request.step(), request.context().get("user").cloned());
            let tools: Vec<String> = request.tools().iter().map(|tool| tool.name().to_owned()).collect();
            let history = request.history();
            hook.add(format!("{step} {} {:?} {tools:?} {user:?}", history.len(), history.system()));
        })
        .build()?;
    let outcome = agent.run("go").context("user", 42).run_id("r").await?;
    assert_eq!(outcome.answer().map(Answer::steps), Some(2));
    log.add(r#"1 1 "Be brief." ["search"] Some(Number(42))"#);
    log.add(r#"2 2 "Be brief." ["search"] Some(Number(42))"#);
    assert_eq!(seen.lines(), log.lines());
    Ok(())
}

#[tokio::test]
async fn m2_edits_are_sent_seen_by_later_steps_and_kept() -> Tested {
    for path in [Path::Plain, Path::Streamed] {
        let model = ScriptedModel::new([Reply::call("search", json!({})), Reply::text("one"), Reply::text("two")]);
        let agent = agent(&model)
            .dyn_tool(search_tool())
            .before_model("edits", |request: &mut ModelRequest<'_>| {
                if request.context().get("edit").is_none() || request.step() != 1 {
                    return;
                }
                let mut history = request.history();
                history.insert(0, Message::user("earlier"));
                history.insert(1, Message::assistant("before"));
                assert_eq!(
                    history.remove(1).and_then(|message| message.text().map(str::to_owned)).as_deref(),
                    Some("before")
                );
                history.edit(1, |message| message.set_text("go on"));
                history.push(Message::user("scrap"));
                history.push(Message::user("added"));
                history.retain(|message| message.text() != Some("scrap"));
                history.set_system("Edited.");
            })
            .build()?;
        let mut conversation = agent.conversation();
        let run = conversation.run("go").context("edit", true);
        let answer = match path {
            Path::Plain => run.await?.answer().cloned(),
            _ => drain(run.stream()).await.result.ok(),
        };
        assert_eq!(answer.as_ref().map(Answer::text), Some("one"));
        conversation.invoke("next").await?;
        let requests = model.requests();
        let edited = ["user: earlier", "user: go on", "user: added"];
        for request in &requests {
            assert_eq!(sent(request)[..3], edited);
            assert_eq!(request.system, "Edited.");
        }
        assert_eq!(said(conversation.messages())[..3], edited);
        assert_eq!(conversation.messages().len(), 7);
    }
    Ok(())
}

#[tokio::test]
async fn m2_kept_edits_outlive_the_process() -> Tested {
    let store = MemoryStore::new();
    let model = ScriptedModel::from_fn(|_| Reply::text("ok"));
    let build = |store: &MemoryStore| {
        agent(&model)
            .before_model("edits", |request: &mut ModelRequest<'_>| {
                if request.history().len() == 1 {
                    request.history().edit(0, |message| message.set_text("edited"));
                    request.history().set_system("Kept.");
                }
            })
            .durable(store.clone())
            .build()
    };
    build(&store)?.conversation_id("c").await?.invoke("raw").await?;
    // Another process: only the store is the same.
    let agent = build(&store)?;
    let mut conversation = agent.conversation_id("c").await?;
    assert_eq!(said(conversation.messages()), ["user: edited", "assistant: ok"]);
    conversation.invoke("next").await?;
    let last = model.requests().pop().expect("it was asked");
    assert_eq!((sent(&last)[0].as_str(), last.system.as_str()), ("user: edited", "Kept."));
    Ok(())
}

#[test]
fn m3_there_is_no_second_history_to_put_in_its_place() {
    not_impl!(HistoryMut<'static>: Clone);
    not_impl!(HistoryMut<'static>: Default);
    not_impl!(HistoryMut<'static>: std::ops::DerefMut);
    not_impl!(ModelRequest<'static>: Clone);
    not_impl!(ModelRequest<'static>: Default);
    not_impl!(ToolObservation<'static>: Clone);
    not_impl!(ToolObservation<'static>: Default);
    not_impl!(FinalResponse<'static>: Clone);
    not_impl!(FinalResponse<'static>: Default);
}

#[tokio::test]
async fn m4_a_removed_tool_is_gone_for_this_step_only() -> Tested {
    let counter = Counter::new();
    let model = ScriptedModel::new([
        Reply::call("keep", json!({})),
        Reply::call("keep", json!({})),
        Reply::call("keep", json!({})),
        Reply::text("done"),
    ]);
    let log = Log::new();
    let hook = log.clone();
    let agent = agent_once(&model)
        .dyn_tool(effect("keep", &counter))
        .dyn_tool(effect("drop", &counter))
        .dyn_tool(effect("other", &counter))
        .before_model("filters", move |request: &mut ModelRequest<'_>| {
            let step = request.step();
            let mut tools = request.tools();
            match step {
                1 => {
                    hook.add(format!("{} {}", tools.remove_named("drop"), tools.remove_named("dorp")));
                    hook.add(format!("{} {}", tools.contains_named("drop"), tools.len()));
                }
                2 => tools.retain(|tool| tool.capabilities() == ["keep"]),
                _ => {}
            }
        })
        .build()?;
    agent.invoke("go").await?;
    let shown: Vec<_> = model.requests().iter().map(|request| request.tools.join(" ")).collect();
    assert_eq!(shown, ["keep other", "keep", "keep drop other", "keep drop other"]);
    assert_eq!(log.lines(), ["true false", "false 2"]);
    Ok(())
}

#[test]
fn m4_what_a_hook_sees_of_a_tool_is_read_only() {
    // Shared references to plain data with private fields are all that the handle gives out.
    fn iter<'t>(tools: &'t ToolsMut<'_>) -> Option<&'t ToolSpec> {
        tools.iter().next()
    }
    let mut fixture = RequestFixture::new().user("go").tool_named("search");
    fixture.with(|request| {
        let tools = request.tools();
        let spec = iter(&tools).expect("there is one");
        assert_eq!((spec.name(), spec.description(), spec.schema()), ("search", "", &json!({ "type": "object" })));
        assert!(spec.capabilities().is_empty());
    });
    not_impl!(ToolsMut<'static>: Clone);
    not_impl!(ToolsMut<'static>: Default);
    not_impl!(ToolsMut<'static>: std::ops::DerefMut);
    not_impl!(ToolsMut<'static>: Extend<ToolSpec>);
}

#[tokio::test]
async fn m5_a_later_hook_cannot_bring_a_tool_back() -> Tested {
    let (counter, log) = (Counter::new(), Log::new());
    let hook = log.clone();
    let model = ScriptedModel::new([Reply::call("drop", json!({})), Reply::text("done")]);
    let agent = agent_once(&model)
        .dyn_tool(effect("drop", &counter))
        .before_model("removes", remove("drop"))
        .before_model("wants", move |request: &mut ModelRequest<'_>| {
            let mut tools = request.tools();
            // Keeping everything keeps what is there, and brings nothing back.
            tools.retain(|_| true);
            hook.add(format!("{} {}", tools.contains_named("drop"), tools.is_empty()));
        })
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(log.lines(), ["false true", "false true"]);
    assert_eq!(counter.get(), 0);
    assert!(model.requests().iter().all(|request| request.tools.is_empty()));
    Ok(())
}

#[tokio::test]
async fn m6_hooks_run_once_a_step_and_every_attempt_sends_the_same_request() -> Tested {
    for path in Path::ALL {
        let counter = Counter::new();
        let (hook, model) = (
            counter.clone(),
            ScriptedModel::new([
                Reply::transient("1"),
                Reply::transient("2"),
                Reply::transient("3"),
                Reply::text("ok"),
            ]),
        );
        let agent = agent_once(&model)
            .dyn_tool(search_tool())
            .before_model("edits", move |request: &mut ModelRequest<'_>| {
                let time = hook.next();
                request.history().append_system(format!("time {time}"));
                request.this_step().push(Message::user("and"));
                request.tools().retain(|_| false);
            })
            .build()?;
        path.run(&agent, "go").await.result?;
        let requests = model.requests();
        assert_eq!((counter.get(), requests.len()), (1, 4), "{path:?}");
        assert!(requests.iter().all(|request| *request == requests[0]), "{path:?}");
        assert_eq!(requests[0].system, "time 1");
    }
    Ok(())
}

#[tokio::test]
async fn m7_a_step_goes_prompt_hooks_policy_manifest_budget_request() -> Tested {
    let model = ScriptedModel::new([Reply::text("done")]).without_native_tools();
    let log = Log::new();
    let hook = log.clone();
    let agent = agent_once(&model)
        .instructions("Base.")
        .dyn_tool(search_tool())
        .before_model("sees", move |request: &mut ModelRequest<'_>| {
            // The registered prompt is there before the hooks, with the tools in it.
            hook.add(format!("{}", request.history().system().contains("search")));
            request.tools().retain(|_| false);
        })
        .before_model("late", |_: &mut ModelRequest<'_>| ())
        .build()?;
    let ended = drain(agent.run("go").stream()).await;
    ended.result?;
    let order: Vec<&str> = ended
        .events
        .iter()
        .map(|event| match event {
            RunEvent::StepStarted { .. } => "step",
            RunEvent::HookRan { hook, .. } if hook == "sees" => "first hook",
            RunEvent::HookRan { .. } => "second hook",
            RunEvent::ContextPrepared { .. } => "manifest",
            RunEvent::ModelRequested { .. } => "request",
            _ => "",
        })
        .filter(|name| !name.is_empty())
        .collect();
    assert_eq!(order, ["step", "first hook", "second hook", "manifest", "request"]);
    assert_eq!(log.lines(), ["true"]);
    assert_eq!(model.requests()[0].system, "Base.", "the prompt is made again without the tool");
    Ok(())
}

#[tokio::test]
async fn m7_the_budget_is_checked_after_the_manifest_and_before_the_request() -> Tested {
    let model = ScriptedModel::new([Reply::text("never")]);
    let agent = agent(&model).budget(Budget::new().max_input_tokens(3)).build()?;
    let ended = drain(agent.run("a prompt of more than three tokens").stream()).await;
    assert!(matches!(ended.result, Err(Error::Budget { step: 1, .. })));
    assert!(ended.events.iter().any(|event| matches!(event, RunEvent::ContextPrepared { .. })));
    assert!(!ended.events.iter().any(|event| matches!(event, RunEvent::ModelRequested { .. })));
    assert_eq!(model.request_count(), 0);
    Ok(())
}

/// The system messages that are sent when `edit` runs as a hook, over three steps.
async fn systems(
    edit: impl Fn(&mut ModelRequest<'_>) + Send + Sync + 'static,
) -> Result<Vec<String>, Box<dyn StdError>> {
    let model = ScriptedModel::new([Reply::call("t", json!({})), Reply::call("t", json!({})), Reply::text("done")])
        .without_native_tools();
    let agent = agent(&model)
        .instructions("Base.")
        .dyn_tool(value_tool("t", json!(1)))
        .before_model("edits", move |request: &mut ModelRequest<'_>| edit(request))
        .build()?;
    agent.invoke("go").await?;
    Ok(model.requests().into_iter().map(|request| request.system).collect())
}

#[tokio::test]
async fn m8_the_system_message_is_compiled_at_each_step_and_an_edit_wins_over_it() -> Tested {
    let compiled = systems(|_| ()).await?;
    assert!(compiled.iter().all(|text| text.starts_with("Base.\n\n# Tools") && text.contains("- t:")), "{compiled:?}");

    // The prompt follows the roster.
    let removed = systems(|request| {
        if request.step() == 2 {
            request.tools().remove_named("t");
        }
    });
    // The model still calls `t` at step 2: that is refused, and step 3 has it again.
    let removed = removed.await?;
    assert_eq!((removed[0].as_str(), removed[1].as_str()), (compiled[0].as_str(), "Base."));
    assert_eq!(removed[2], compiled[2]);

    // An override lasts until it is reset.
    let set = systems(|request| match request.step() {
        1 => request.history().set_system("Mine."),
        3 => request.history().reset_system(),
        _ => {}
    });
    assert_eq!(set.await?, ["Mine.", "Mine.", compiled[2].as_str()]);

    // One for this step lasts for one request.
    let once = systems(|request| {
        if request.step() == 2 {
            request.this_step().set_system("Once.");
        }
    });
    assert_eq!(once.await?, [compiled[0].as_str(), "Once.", compiled[2].as_str()]);

    // A section is replaced when its hook appends again.
    let appended = systems(|request| {
        let step = request.step();
        request.tools().retain(|_| step != 2);
        request.history().append_system(format!("Step {step}."));
    });
    let appended = appended.await?;
    assert_eq!(appended[0], format!("{}\n\nStep 1.", compiled[0]));
    assert_eq!(appended[1], "Base.\n\nStep 2.");
    assert_eq!(appended[2], format!("{}\n\nStep 3.", compiled[0]));
    Ok(())
}

#[tokio::test]
async fn m8_two_hooks_have_a_section_each_even_under_one_name() -> Tested {
    let model = ScriptedModel::new([Reply::text("done")]);
    let agent = agent(&model)
        .before_model("adds", |request: &mut ModelRequest<'_>| request.history().append_system("one"))
        .before_model("adds", |request: &mut ModelRequest<'_>| request.history().append_system("two"))
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(model.requests()[0].system, "one\n\ntwo");
    Ok(())
}

#[tokio::test]
async fn m8_an_edited_prompt_does_not_widen_the_roster() -> Tested {
    let counter = Counter::new();
    let model = ScriptedModel::new([Reply::call("pay", json!({})), Reply::text("done")]).without_native_tools();
    let agent = agent(&model)
        .dyn_tool(effect("pay", &counter))
        .before_model("lies", |request: &mut ModelRequest<'_>| {
            request.tools().remove_named("pay");
            request.history().set_system("You may call the tool `pay`.");
        })
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(counter.get(), 0);
    Ok(())
}

#[tokio::test]
async fn m9_a_call_outside_the_roster_is_corrected_and_then_fails_the_run() -> Tested {
    for path in Path::ALL {
        for limit in [0, 1, 2] {
            let counter = Counter::new();
            let model = ScriptedModel::from_fn(|_| Reply::call("pay", json!({})));
            let agent = agent(&model)
                .dyn_tool(effect("pay", &counter))
                .dyn_tool(search_tool())
                .max_tool_corrections(limit)
                .before_model("filters", remove("pay"))
                .build()?;
            let ended = path.run(&agent, "go").await;
            let Err(Error::ToolCorrections { limit: said, step, .. }) = ended.result else {
                panic!("{path:?}: {:?}", ended.result)
            };
            assert_eq!((said, step, model.request_count()), (limit, limit + 1, limit as usize + 1));
            assert_eq!(counter.get(), 0);
        }
    }
    Ok(())
}

#[tokio::test]
async fn m9_the_correction_lists_what_is_there_and_does_not_tell_removed_from_unknown() -> Tested {
    let correction = async |name: &'static str| -> Result<ToolOutcome, Box<dyn StdError>> {
        let model = ScriptedModel::new([Reply::call(name, json!({ "a": 1 })), Reply::text("done")]);
        let agent = agent(&model)
            .dyn_tool(value_tool("secret", json!(1)))
            .dyn_tool(search_tool())
            .dyn_tool(value_tool("read", json!(1)))
            .before_model("filters", remove("secret"))
            .build()?;
        let mut conversation = agent.conversation();
        conversation.invoke("go").await?;
        Ok(conversation.messages()[1].calls()[0].outcome.clone())
    };
    let (removed, unknown) = (correction("secret").await?, correction("never").await?);
    assert_eq!(removed, unknown, "removed and unknown read alike");
    let text = removed.to_model_text();
    assert!(text.contains("search") && text.contains("read") && !text.contains("secret"), "{text}");
    Ok(())
}

#[tokio::test]
async fn m9_corrections_are_counted_over_the_whole_run() -> Tested {
    // Two refused calls in one turn and a third later are three corrections.
    let model = ScriptedModel::new([
        Reply::calls([("nope", json!({})), ("search", json!({})), ("nope", json!({}))]),
        Reply::call("search", json!({})),
        Reply::call("nope", json!({})),
        Reply::text("never"),
    ]);
    let agent = agent(&model).dyn_tool(search_tool()).build()?;
    let Err(Error::ToolCorrections { limit: 2, step: 3, .. }) = agent.invoke("go").await else {
        panic!("the third correction is one too many")
    };
    assert_eq!(model.request_count(), 3);
    Ok(())
}

#[tokio::test]
async fn m10_the_roster_of_the_step_holds_for_its_pending_actions() -> Tested {
    let (paid, dropped, store) = (Counter::new(), Counter::new(), MemoryStore::new());
    let model = ScriptedModel::new([Reply::calls([("pay", json!({})), ("drop", json!({}))]), Reply::text("done")]);
    let hooks_ran = Counter::new();
    let build = |filtering: bool| {
        let ran = hooks_ran.clone();
        agent_once(&model)
            .dyn_tool(effect("pay", &paid))
            .dyn_tool(effect("drop", &dropped))
            .policy(CapabilityPolicy::new().require_approval("pay"))
            .before_model("filters", move |request: &mut ModelRequest<'_>| {
                ran.up();
                if filtering {
                    request.tools().remove_named("drop");
                }
            })
            .durable(store.clone())
            .build()
    };
    let Outcome::Interrupted(waits) = build(true)?.run("go").run_id("r").await? else { panic!("it waits") };
    assert_eq!((paid.get(), dropped.get(), hooks_ran.get()), (0, 0, 1));
    // The rebuilt agent filters nothing; what was excluded stays excluded.
    let outcome = build(false)?.resume("r").approve(&waits).await?;
    assert_eq!(outcome.answer().map(Answer::text), Some("done"));
    assert_eq!((paid.get(), dropped.get()), (1, 0));
    assert_eq!(hooks_ran.get(), 2, "the pending step is not prepared again");
    let requests = model.requests();
    assert_eq!((requests[0].tools.join(" "), requests[1].tools.join(" ")), ("pay".into(), "pay drop".into()));
    assert!(sent(&requests[1])[1].contains("drop({}) = The call was rejected"), "{:?}", sent(&requests[1]));
    Ok(())
}

#[tokio::test]
async fn m11_nothing_done_to_a_copy_of_the_context_changes_the_run() -> Tested {
    use protolink::rules::{Decision, PolicyRequest};
    struct OnlyGuests(Log);
    impl protolink::rules::Policy for OnlyGuests {
        fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
            self.0.add(format!("{:?}", request.context.get("role")));
            Decision::Allow
        }
    }
    let log = Log::new();
    let later = log.clone();
    let agent = agent_once(&call_then_answer())
        .dyn_tool(search_tool())
        .policy(OnlyGuests(log.clone()))
        .before_model("pretends", |request: &mut ModelRequest<'_>| {
            let mut copy: RunContext = request.context().clone();
            copy.metadata.insert("role".to_owned(), json!("admin"));
            copy.run_id = "another".into();
        })
        .before_model("later", move |request: &mut ModelRequest<'_>| {
            later.add(format!("{:?}", request.context().get("role")));
        })
        .build()?;
    let _ = agent.run("go").context("role", "guest").await?;
    assert_eq!(log.lines(), vec![r#"Some(String("guest"))"#; 3]);
    // What a hook is lent is shared, and holds nothing that is live: it can be kept, compared and sent anywhere.
    plain_data::<RunContext>();
    Ok(())
}

fn plain_data<T: Clone + PartialEq + Send + Sync + 'static>() {}

#[test]
fn m12_a_call_and_its_outcome_go_and_stay_together() {
    let mut fixture =
        RequestFixture::new().user("one").message(turn_of_two()).user("two").message(turn_of_two()).user("three");
    fixture.with(|request| {
        let mut history = request.history();
        let removed = history.remove(1).expect("there is one");
        assert_eq!(removed.calls().len(), 2, "the outcomes go with their calls");
        history.edit(2, |turn| {
            turn.set_text("changed");
            assert_eq!(turn.set_observed("a", json!("short")), Ok(true));
            // What became of a failed call is not a hook's to change, and no outcome can be made up.
            assert_eq!(turn.set_observed("b", json!("fine")), Ok(false));
            assert_eq!(turn.set_observed("c", json!("made up")), Ok(false));
        });
        history.retain(|message| message.text() != Some("two"));
    });
    assert_eq!(
        said(fixture.messages()),
        [
            "user: one",
            r#"assistant: changed | search({"q":"a"}) = short | search({"q":"b"}) = The tool failed: lost"#,
            "user: three",
        ]
    );
    assert_paired(fixture.messages());
}

#[tokio::test]
async fn m13_an_edit_is_from_now_on_or_for_this_request_and_events_say_which() -> Tested {
    let model = call_then_answer();
    let agent = agent(&model)
        .dyn_tool(search_tool())
        .before_model("edits", |request: &mut ModelRequest<'_>| {
            let step = request.step();
            request.this_step().push(Message::user(format!("here {step}")));
            request.history().push(Message::user(format!("kept {step}")));
            request.this_step().edit(0, |message| message.set_text("go now"));
        })
        .capture_content(true)
        .build()?;
    let mut conversation = agent.conversation();
    let ended = drain(conversation.run("go").stream()).await;
    ended.result?;
    let requests = model.requests();
    // Later edits apply to both: what is kept stands in the request too.
    assert_eq!(sent(&requests[0])[..1], ["user: go now"]);
    assert!(sent(&requests[0]).contains(&"user: here 1".to_owned()));
    assert!(sent(&requests[0]).contains(&"user: kept 1".to_owned()));
    let second = sent(&requests[1]);
    assert!(!second.contains(&"user: here 1".to_owned()) && second.contains(&"user: here 2".to_owned()), "{second:?}");
    assert!(second.contains(&"user: kept 1".to_owned()) && second.contains(&"user: kept 2".to_owned()), "{second:?}");
    let kept = said(conversation.messages());
    assert_eq!(kept, ["user: go", "user: kept 1", "assistant: search({}) = {}", "user: kept 2", "assistant: done"]);
    let scopes: Vec<Vec<Option<Scope>>> = ended
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::HookRan { stage: Stage::BeforeModel, changes, .. } => {
                Some(changes.iter().map(Change::scope).collect())
            }
            _ => None,
        })
        .collect();
    assert_eq!(scopes, vec![vec![Some(Scope::ThisStep), Some(Scope::History), Some(Scope::ThisStep)]; 2]);
    Ok(())
}

#[tokio::test]
async fn m14_a_request_without_a_user_message_is_refused_and_not_sent() -> Tested {
    fn all(request: &mut ModelRequest<'_>) {
        request.history().retain(|_| false);
    }
    fn here(request: &mut ModelRequest<'_>) {
        request.this_step().retain(|message| !message.is_user());
    }
    for path in Path::ALL {
        for hook in [all as fn(&mut ModelRequest<'_>), here] {
            let model = ScriptedModel::new([Reply::text("never")]);
            let agent =
                agent(&model).before_model("clears", move |request: &mut ModelRequest<'_>| hook(request)).build()?;
            let ended = path.run(&agent, "go").await;
            let Err(Error::EmptyRequest { stage: Stage::BeforeModel, step: 1, .. }) = &ended.result else {
                panic!("{path:?}: {:?}", ended.result)
            };
            assert!(ended.result.expect_err("it fails").to_string().contains("before_model"));
            assert_eq!(model.request_count(), 0);
        }
    }
    Ok(())
}

#[tokio::test]
async fn m14_the_conversation_is_whole_after_a_refused_request() -> Tested {
    let model = ScriptedModel::new([Reply::text("fine")]);
    let agent = agent(&model)
        .before_model("clears", |request: &mut ModelRequest<'_>| {
            if request.context().get("clear").is_some() {
                request.history().retain(|_| false);
            }
        })
        .build()?;
    let mut conversation = agent.conversation();
    conversation.run("one").context("clear", true).await.expect_err("it is refused");
    assert_eq!(said(conversation.messages()), ["user: one"]);
    conversation.invoke("two").await?;
    let requests: Vec<RecordedRequest> = model.requests();
    assert_eq!(sent(&requests[0]), ["user: one", "user: two"]);
    Ok(())
}

/// Search the catalogue.
#[tool]
fn typed_search(query: String) -> String {
    query
}

/// Delete a document.
#[tool(capability = "documents.delete")]
fn delete_document(id: String) -> String {
    id
}

#[before_model]
fn typed_filter(request: &mut ModelRequest<'_>) -> Result<(), &'static str> {
    let mut tools = request.tools();
    if !tools.contains::<typed_search>() {
        return Err("the other tool is there");
    }
    let was_there = (tools.remove::<delete_document>(), tools.remove::<delete_document>());
    if was_there == (true, false) { Ok(()) } else { Err("it says whether it was there") }
}

#[tokio::test]
async fn m4_a_typed_handle_removes_its_tool() -> Tested {
    let model = ScriptedModel::new([Reply::call("delete_document", json!({ "id": "1" })), Reply::text("done")]);
    let agent = agent(&model).tools(tools![typed_search, delete_document]).hooks(hooks![typed_filter]).build()?;
    agent.invoke("go").await?;
    for request in model.requests() {
        assert_eq!(request.tool_names(), ["typed_search"]);
    }
    assert!(sent(&model.requests()[1])[1].contains("rejected"));
    Ok(())
}
