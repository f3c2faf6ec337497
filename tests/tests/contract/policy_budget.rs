//! Section P of the contract: policy, budget, observers, configuration, and what a run leaves behind.

use std::error::Error as StdError;
use std::time::Duration;

use protolink::durable::MemoryStore;
use protolink::prelude::*;
use protolink::rules::{Approval, ApprovalRequest, BudgetLimit, Decision, Policy, PolicyRequest};
use protolink::testing::{Reply, ScriptedModel};
use protolink::{
    AgentConfig, BoxFuture, BuildError, CancellationToken, ContractChange, DynTool, Observer, ToolCall, ToolOutcome,
};
use protolink_tests::{
    Boom, Counter, Log, Path, agent, agent_once, assert_paired, drain, effect, failing_tool, said, search_tool, sent,
    value_tool,
};
use serde_json::{Value, json};

type Tested = Result<(), Box<dyn StdError>>;

fn call_then_answer(tool: &str) -> ScriptedModel {
    ScriptedModel::new([Reply::call(tool, json!({})), Reply::text("done")])
}

#[tokio::test]
async fn t6_arguments_that_do_not_fit_a_tools_schema_reach_neither_policy_nor_tool() -> Tested {
    struct Asked(Log);
    impl Policy for Asked {
        fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
            self.0.add(request.arguments.to_string());
            Decision::Allow
        }
    }
    for path in Path::ALL {
        let (effects, asked) = (Counter::new(), Log::new());
        let counter = effects.clone();
        let schema =
            json!({ "type": "object", "required": ["cents"], "properties": { "cents": { "type": "integer" } } });
        let pay = DynTool::new("pay", "Pays.", schema, move |_, _| {
            counter.up();
            async { Ok::<_, ToolError>("paid") }
        });
        let model = ScriptedModel::new([
            Reply::call("pay", json!({ "cents": "s3cret" })),
            Reply::call("pay", json!({ "cents": 5 })),
            Reply::text("done"),
        ]);
        let agent = agent(&model).dyn_tool(pay).policy(Asked(asked.clone())).build()?;
        assert!(path.run(&agent, "go").await.result.is_ok(), "{path:?}");
        assert_eq!((effects.get(), asked.lines()), (1, vec![r#"{"cents":5}"#.to_owned()]), "{path:?}");
        let told = model.requests()[1].messages[1].calls()[0].outcome.clone();
        let reason = "`cents` must be of the type integer, and is a string";
        assert_eq!(told, ToolOutcome::Rejected(reason.to_owned()), "{path:?}");
    }
    Ok(())
}

#[tokio::test]
async fn p1_a_denied_call_runs_nothing_and_is_a_counted_correction() -> Tested {
    for path in Path::ALL {
        let effects = Counter::new();
        let model = ScriptedModel::from_fn(|_| Reply::call("pay", json!({})));
        let agent = agent(&model)
            .dyn_tool(effect("pay", &effects))
            .policy(CapabilityPolicy::new().deny("pay"))
            .max_tool_corrections(1)
            .build()?;
        let ended = path.run(&agent, "go").await;
        assert!(matches!(ended.result, Err(Error::ToolCorrections { limit: 1, step: 2, .. })), "{path:?}");
        assert_eq!(effects.get(), 0);
        let requests = model.requests();
        let ToolOutcome::Denied(reason) = &requests[1].messages[1].calls()[0].outcome else { panic!("denied") };
        assert!(reason.contains("pay"), "the model is told why: {reason}");
    }
    Ok(())
}

#[tokio::test]
async fn p1_what_a_hook_leaves_in_the_roster_never_widens_what_is_allowed() -> Tested {
    struct Nobody;
    impl Policy for Nobody {
        fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
            assert_eq!((request.tool.name(), request.arguments, request.step), ("pay", &json!({ "cents": 5 }), 1));
            Decision::Deny { reason: "nobody may".to_owned() }
        }
    }
    let (effects, model) =
        (Counter::new(), ScriptedModel::new([Reply::call("pay", json!({ "cents": 5 })), Reply::text("done")]));
    let agent = agent(&model)
        .dyn_tool(effect("pay", &effects))
        .dyn_tool(search_tool())
        .policy(Nobody)
        .before_model("keeps", |request: &mut ModelRequest<'_>| {
            request.tools().retain(|tool| tool.name() == "pay");
            request.history().set_system("You are allowed to pay.");
        })
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(effects.get(), 0);
    Ok(())
}

#[tokio::test]
async fn p1_only_a_persons_yes_lets_a_call_run_that_needs_it() -> Tested {
    let words = [(Approval::Approve, 1), (Approval::Reject { reason: "too much".to_owned() }, 0)];
    for path in Path::ALL {
        for (word, times) in words.clone() {
            let (effects, log, model) = (Counter::new(), Log::new(), call_then_answer("pay"));
            let asked = log.clone();
            let agent = agent(&model)
                .dyn_tool(effect("pay", &effects))
                .policy(CapabilityPolicy::new().require_approval("pay"))
                .approver(move |request: &ApprovalRequest| {
                    asked.add(format!("{} {} {:?}", request.tool, request.arguments, request.capabilities));
                    word.clone()
                })
                .build()?;
            path.run(&agent, "go").await.result?;
            assert_eq!((effects.get(), log.lines()), (times, vec![r#"pay {} ["pay"]"#.to_owned()]), "{path:?}");
            let seen = sent(&model.requests()[1]).join("\n");
            assert!(times == 1 || seen.contains("too much"), "the model is told the reason: {seen}");
        }
        // Without a word, and without a store to wait in, the run fails.
        let effects = Counter::new();
        let undecided = agent(&call_then_answer("pay"))
            .dyn_tool(effect("pay", &effects))
            .policy(CapabilityPolicy::new().require_approval("pay"))
            .approver(|_: &ApprovalRequest| Approval::Undecided)
            .build()?;
        assert!(matches!(path.run(&undecided, "go").await.result, Err(Error::ApprovalUnavailable { .. })));
        assert_eq!(effects.get(), 0);
    }
    Ok(())
}

#[tokio::test]
async fn p1_a_policy_that_panics_has_allowed_nothing() -> Tested {
    struct Broken;
    impl Policy for Broken {
        fn decide(&self, _: &PolicyRequest<'_>) -> Decision {
            panic!("no rule for this")
        }
    }
    let (effects, model) = (Counter::new(), call_then_answer("pay"));
    let agent = agent(&model).dyn_tool(effect("pay", &effects)).policy(Broken).build()?;
    assert_eq!(agent.invoke("go").await?.text(), "done");
    assert_eq!(effects.get(), 0);
    Ok(())
}

fn limit_of<T>(result: &Result<T, Error>) -> Option<BudgetLimit> {
    match result {
        Err(Error::Budget { limit, .. }) => Some(*limit),
        _ => None,
    }
}

#[tokio::test]
async fn p2_max_steps_makes_that_many_steps_and_counts_one_before_its_hooks() -> Tested {
    for path in Path::ALL {
        for steps in [0, 1, 3] {
            let (hooks, effects) = (Counter::new(), Counter::new());
            let (ran, model) = (hooks.clone(), ScriptedModel::from_fn(|_| Reply::call("pay", json!({}))));
            let agent = agent_once(&model)
                .dyn_tool(effect("pay", &effects))
                .budget(Budget::new().max_steps(steps))
                .before_model("counts", move |_: &mut ModelRequest<'_>| ran.up())
                .build()?;
            let ended = path.run(&agent, "go").await;
            assert_eq!(limit_of(&ended.result), Some(BudgetLimit::Steps(steps)), "{path:?}");
            let steps = steps as usize;
            assert_eq!((model.request_count(), hooks.get(), effects.get()), (steps, steps, steps), "{path:?}");
        }
        // A run that needs exactly as many is not stopped.
        let fits = agent_once(&call_then_answer("search"))
            .dyn_tool(search_tool())
            .budget(Budget::new().max_steps(2))
            .build()?;
        assert_eq!(path.run(&fits, "go").await.result?.steps(), 2);
    }
    Ok(())
}

#[tokio::test]
async fn p2_model_calls_count_every_attempt() -> Tested {
    let model = ScriptedModel::new([Reply::transient("1"), Reply::transient("2"), Reply::text("third")]);
    let agent2 = agent_once(&model).budget(Budget::new().max_model_calls(2)).build()?;
    assert_eq!(limit_of(&agent2.invoke("go").await), Some(BudgetLimit::ModelCalls(2)));
    assert_eq!(model.request_count(), 2);

    // What is known to be used up is said before hooks spend work on it.
    let (hooks, model) = (Counter::new(), call_then_answer("search"));
    let ran = hooks.clone();
    let agent1 = agent_once(&model)
        .dyn_tool(search_tool())
        .budget(Budget::new().max_model_calls(1))
        .before_model("counts", move |_: &mut ModelRequest<'_>| ran.up())
        .build()?;
    assert_eq!(limit_of(&agent1.invoke("go").await), Some(BudgetLimit::ModelCalls(1)));
    assert_eq!((model.request_count(), hooks.get()), (1, 1));
    Ok(())
}

#[tokio::test]
async fn p2_tool_calls_of_a_turn_fit_together_or_none_of_them_runs() -> Tested {
    for (limit, runs) in [(1, 0), (2, 2), (3, 2)] {
        let effects = Counter::new();
        let model = ScriptedModel::new([Reply::calls([("pay", json!({})), ("pay", json!({}))]), Reply::text("done")]);
        let agent =
            agent(&model).dyn_tool(effect("pay", &effects)).budget(Budget::new().max_tool_calls(limit)).build()?;
        let mut conversation = agent.conversation();
        let result = conversation.invoke("go").await;
        assert_eq!(effects.get(), runs);
        if runs == 0 {
            assert_eq!(limit_of(&result), Some(BudgetLimit::ToolCalls(limit)));
            let outcomes = conversation.messages()[1].calls().iter().map(|exchange| &exchange.outcome);
            assert!(outcomes.into_iter().all(|outcome| *outcome == ToolOutcome::Cancelled));
        } else {
            assert_eq!(result?.text(), "done");
        }
    }
    Ok(())
}

#[tokio::test]
async fn p2_tokens_are_checked_before_the_request_on_what_will_be_sent() -> Tested {
    let long = "word ".repeat(100);
    for path in Path::ALL {
        let model = ScriptedModel::new([Reply::text("never")]);
        let agent = agent(&model).budget(Budget::new().max_input_tokens(50)).build()?;
        assert_eq!(limit_of(&path.run(&agent, &long).await.result), Some(BudgetLimit::InputTokens(50)), "{path:?}");
        assert_eq!(model.request_count(), 0);
    }
    // A hook that trims the request trims what is counted, whichever way it does it.
    for only_here in [true, false] {
        let model = ScriptedModel::new([Reply::text("done")]);
        let agent = agent(&model)
            .budget(Budget::new().max_input_tokens(50))
            .before_model("trims", move |request: &mut ModelRequest<'_>| {
                let mut history = if only_here { request.this_step() } else { request.history() };
                history.edit(0, |message| message.set_text("short"));
            })
            .build()?;
        assert_eq!(agent.invoke(&long).await?.text(), "done");
    }
    Ok(())
}

#[tokio::test]
async fn p2_what_the_provider_counted_is_what_is_spent() -> Tested {
    let model = ScriptedModel::new([Reply::calls([("search", json!({}))]).usage(60, 30), Reply::text("never")]);
    let agent = agent(&model).dyn_tool(search_tool()).budget(Budget::new().max_tokens(95)).build()?;
    // 90 are spent, and the second request does not fit into the 5 that are left.
    assert_eq!(limit_of(&agent.invoke("go").await), Some(BudgetLimit::Tokens(95)));
    assert_eq!(model.request_count(), 1);
    Ok(())
}

#[tokio::test]
async fn p2_wall_time_is_checked_before_each_operation() -> Tested {
    let (effects, model) =
        (Counter::new(), ScriptedModel::new([Reply::call("pay", json!({})).after(Duration::from_millis(20))]));
    let time = Duration::from_millis(10);
    let agent = agent(&model).dyn_tool(effect("pay", &effects)).budget(Budget::new().max_wall_time(time)).build()?;
    assert_eq!(limit_of(&agent.invoke("go").await), Some(BudgetLimit::WallTime(time)));
    assert_eq!(effects.get(), 0, "the call came too late to be made");
    Ok(())
}

#[tokio::test]
async fn p2_a_pause_consumes_no_time() -> Tested {
    let (effects, model) = (Counter::new(), call_then_answer("pay"));
    let agent = agent(&model)
        .dyn_tool(effect("pay", &effects))
        .policy(CapabilityPolicy::new().require_approval("pay"))
        .budget(Budget::new().max_wall_time(Duration::from_millis(400)))
        .durable(MemoryStore::new())
        .build()?;
    let Outcome::Interrupted(waits) = agent.run("go").await? else { panic!("it waits") };
    tokio::time::sleep(Duration::from_millis(420)).await;
    let outcome = agent.resume(&waits.run_id).approve(&waits).await?;
    assert_eq!(outcome.answer().map(Answer::text), Some("done"));
    Ok(())
}

#[tokio::test]
async fn p2_a_run_may_bring_limits_of_its_own() -> Tested {
    let model = ScriptedModel::from_fn(|_| Reply::call("search", json!({})));
    let agent = agent(&model).dyn_tool(search_tool()).budget(Budget::new().max_steps(5)).build()?;
    let result = agent.run("go").budget(Budget::new().max_steps(1)).await;
    assert!(matches!(result, Err(Error::Budget { limit: BudgetLimit::Steps(1), .. })));
    Ok(())
}

#[tokio::test]
async fn p3_observers_see_everything_and_can_stop_nothing() -> Tested {
    struct Fails;
    impl Observer for Fails {
        fn observe(&self, _: &RunEvent) -> Result<(), BoxError> {
            Err(Boom("observer").into())
        }
    }
    let log = Log::new();
    let seen = log.clone();
    let agent = agent(&call_then_answer("search"))
        .dyn_tool(search_tool())
        .before_model("hook", |_: &mut ModelRequest<'_>| ())
        .observer(Fails)
        .observer(|_: &RunEvent| panic!("broken observer"))
        .observer(move |event: &RunEvent| {
            let name = serde_json::to_value(event).ok().and_then(|value| value["event"].as_str().map(str::to_owned));
            seen.add(name.unwrap_or_default());
        })
        .build()?;
    assert_eq!(agent.invoke("go").await?.text(), "done");
    let expected = [
        "started",
        "step_started",
        "hook_ran",
        "context_prepared",
        "model_requested",
        "model_replied",
        "tool_started",
        "tool_finished",
        "observed",
        "step_started",
        "hook_ran",
        "context_prepared",
        "model_requested",
        "model_replied",
        "completed",
    ];
    assert_eq!(log.lines(), expected);
    Ok(())
}

#[tokio::test]
async fn p3_a_failing_observer_is_reported_to_those_who_listen() -> Tested {
    let agent = agent(&ScriptedModel::new([Reply::text("done")]))
        .observer(|event: &RunEvent| assert!(!matches!(event, RunEvent::StepStarted { .. }), "not a step"))
        .build()?;
    let ended = drain(agent.run("go").stream()).await;
    assert_eq!(ended.result?.text(), "done");
    let reports: Vec<&str> = ended
        .events
        .iter()
        .filter_map(|event| match event {
            RunEvent::ObserverFailed { message } => Some(message.as_str()),
            _ => None,
        })
        .collect();
    assert!(matches!(reports[..], [report] if report.contains("not a step")), "{reports:?}");
    Ok(())
}

#[tokio::test]
async fn p3_observers_hear_of_failures_too() -> Tested {
    let log = Log::new();
    let seen = log.clone();
    let agent = agent(&ScriptedModel::new([Reply::permanent("401")]))
        .observer(move |event: &RunEvent| {
            if let RunEvent::Failed { error } = event {
                seen.add(error);
            }
        })
        .build()?;
    let error = agent.invoke("go").await.expect_err("the model refuses");
    assert_eq!(log.lines(), [error.to_string()]);
    Ok(())
}

fn first(_: &mut ModelRequest<'_>) {}

fn second(_: &mut FinalResponse<'_>) {}

#[test]
fn p4_a_restored_agent_wants_the_same_hooks_again() -> Tested {
    let model = ScriptedModel::new([]);
    let saved = agent(&model)
        .instructions("Be brief.")
        .dyn_tool(search_tool())
        .before_model("first", first)
        .before_complete("second", second)
        .budget(Budget::new().max_steps(7))
        .execution_version("3")
        .build()?;
    let text = serde_json::to_string(&saved.config())?;
    let config: AgentConfig = serde_json::from_str(&text)?;
    let names: Vec<&str> = config.hooks.iter().map(|hook| hook.name.as_str()).collect();
    assert_eq!((config.instructions.as_str(), names), ("Be brief.", vec!["first", "second"]));

    let restored = config
        .builder()
        .model(model.clone())
        .dyn_tool(search_tool())
        .before_model("first", first)
        .before_complete("second", second)
        .build()?;
    assert_eq!(restored.fingerprint(), saved.fingerprint());
    assert_eq!(restored.config(), saved.config(), "every setting is there again");

    let Err(BuildError::HooksMissing { missing, .. }) =
        config.builder().model(model.clone()).dyn_tool(search_tool()).before_model("first", first).build()
    else {
        panic!("one is missing")
    };
    assert!(matches!(&missing[..], [hook] if hook.contains("before_complete") && hook.contains("second")));

    let more = config
        .builder()
        .model(model)
        .dyn_tool(search_tool())
        .before_model("first", first)
        .before_model("third", first)
        .before_complete("second", second)
        .build();
    let Err(BuildError::ConfigDiffers { changes, .. }) = more else { panic!("one is too many") };
    assert!(matches!(&changes[..], [ContractChange::Added { name, .. }] if name == "third"), "{changes:?}");
    Ok(())
}

#[test]
fn p5_two_tools_of_one_name_are_refused() {
    let builder = agent(&ScriptedModel::new([])).dyn_tool(search_tool()).dyn_tool(value_tool("search", json!(1)));
    assert!(matches!(builder.build(), Err(BuildError::DuplicateTool { tool, .. }) if tool == "search"));
}

#[tokio::test]
async fn p6_completed_exchanges_stay_and_open_ones_are_closed_truthfully() -> Tested {
    let model = ScriptedModel::new([
        Reply::call("search", json!({ "q": 1 })),
        Reply::calls([ToolCall::new("a", "search", json!({})), ToolCall::new("b", "fails", json!({}))]),
        Reply::text("better"),
    ]);
    let agent = agent(&model).dyn_tool(search_tool()).dyn_tool(failing_tool("fails")).max_parallel_tools(1).build()?;
    let mut conversation = agent.conversation();
    conversation.invoke("go").await.expect_err("the tool fails");
    assert_paired(conversation.messages());
    assert_eq!(
        said(conversation.messages()),
        [
            "user: go",
            r#"assistant: search({"q":1}) = {"q":1}"#,
            "assistant: search({}) = {} | fails({}) = The tool failed: boom at tool",
        ]
    );
    assert_eq!(conversation.invoke("again").await?.text(), "better");
    assert_eq!(sent(&model.requests()[2])[3], "user: again");
    Ok(())
}

/// A tool that signals that it runs, and never ends.
fn hanging(started: &CancellationToken) -> DynTool {
    let started = started.clone();
    DynTool::new("hangs", "", json!({ "type": "object" }), move |_, _| {
        started.cancel();
        std::future::pending::<Result<Value, ToolError>>()
    })
}

#[tokio::test]
async fn p6_a_cancelled_run_leaves_a_conversation_that_goes_on() -> Tested {
    let (started, cancel) = (CancellationToken::new(), CancellationToken::new());
    let model = ScriptedModel::new([Reply::calls([("hangs", json!({})), ("late", json!({}))]), Reply::text("better")]);
    let effects = Counter::new();
    let agent =
        agent(&model).dyn_tool(hanging(&started)).dyn_tool(effect("late", &effects)).max_parallel_tools(1).build()?;
    let mut conversation = agent.conversation();
    let (result, ()) = tokio::join!(conversation.run("go").cancel(cancel.clone()), async {
        started.cancelled().await;
        cancel.cancel();
    });
    assert!(matches!(result, Err(Error::Cancelled { step: 1, .. })));
    let outcomes: Vec<_> = conversation.messages()[1].calls().iter().map(|exchange| &exchange.outcome).collect();
    assert_eq!(outcomes, [&ToolOutcome::Uncertain, &ToolOutcome::Cancelled], "one was under way, one never began");
    assert_eq!((conversation.invoke("again").await?.text(), effects.get()), ("better", 0));
    Ok(())
}

#[tokio::test]
async fn p6_a_dropped_run_leaves_a_conversation_that_goes_on() -> Tested {
    let started = CancellationToken::new();
    let model = ScriptedModel::new([Reply::call("hangs", json!({})), Reply::text("better")]);
    let agent = agent(&model).dyn_tool(hanging(&started)).build()?;
    let mut conversation = agent.conversation();
    {
        let mut stream = conversation.run("go").stream();
        while !matches!(stream.next().await, Some(Ok(RunEvent::ToolStarted { .. }))) {}
    }
    assert_eq!(conversation.messages().len(), 2);
    assert_eq!(conversation.messages()[1].calls()[0].outcome, ToolOutcome::Uncertain);
    assert_eq!(conversation.invoke("again").await?.text(), "better");
    Ok(())
}

#[tokio::test]
async fn p6_edits_of_a_step_that_gave_no_reply_do_not_stay() -> Tested {
    for fails_in_hook in [true, false] {
        let model = ScriptedModel::new(if fails_in_hook {
            vec![Reply::text("better")]
        } else {
            vec![Reply::permanent("401"), Reply::text("better")]
        });
        let agent = agent(&model)
            .before_model("edits", |request: &mut ModelRequest<'_>| {
                request.history().push(Message::user("edit"));
                request.history().set_system("edit");
            })
            .before_model("fails", move |request: &mut ModelRequest<'_>| {
                request.history().push(Message::user("half"));
                if fails_in_hook && request.context().get("fail").is_some() { Err(Boom("hook")) } else { Ok(()) }
            })
            .build()?;
        let mut conversation = agent.conversation();
        conversation.run("go").context("fail", true).await.expect_err("it fails");
        assert_eq!(said(conversation.messages()), ["user: go"], "as after a crash, the step leaves nothing");
        conversation.invoke("again").await?;
        let kept = said(conversation.messages());
        assert_eq!(kept, ["user: go", "user: again", "user: edit", "user: half", "assistant: better"]);
    }
    Ok(())
}

#[tokio::test]
async fn p6_a_run_waits_for_nothing_that_was_dropped() -> Tested {
    // A hook that hangs is dropped with its run, and the conversation is free at once.
    let model = ScriptedModel::new([Reply::text("better")]);
    let agent = agent(&model)
        .before_model("hangs", |request: &mut ModelRequest<'_>| -> BoxFuture<'static, ()> {
            let hang = request.context().get("hang").is_some();
            Box::pin(async move {
                if hang {
                    std::future::pending::<()>().await;
                }
            })
        })
        .build()?;
    let mut conversation = agent.conversation();
    let run = conversation.run("go").context("hang", true);
    assert!(tokio::time::timeout(Duration::from_millis(5), run.into_future()).await.is_err());
    assert_eq!(conversation.invoke("again").await?.text(), "better");
    assert_eq!(said(conversation.messages()), ["user: go", "user: again", "assistant: better"]);
    Ok(())
}

/// Search the catalogue.
#[tool]
fn find(query: String) -> String {
    query
}

#[after_tool(tool = find)]
fn shorten(observation: &mut ToolObservation<'_, String>) {
    observation.result_mut().truncate(3);
}

#[test]
fn p4_a_restored_agent_is_told_of_a_hook_that_is_another() -> Tested {
    let model = ScriptedModel::new([]);
    let saved = agent(&model).tools(tools![find]).hooks(hooks![shorten]).build()?.config();
    let restored = saved
        .builder()
        .model(model.clone())
        .tools(tools![find])
        .after_tool("another", |_: &mut ToolObservation<'_>| ())
        .build();
    let Err(BuildError::HooksMissing { missing, .. }) = restored else { panic!("it is another: {restored:?}") };
    assert!(missing[0].contains("shorten"), "{missing:?}");
    assert!(saved.builder().model(model).tools(tools![find]).hooks(hooks![shorten]).build().is_ok());
    Ok(())
}

#[test]
fn p5_a_hook_for_a_tool_that_is_not_registered_is_not_skipped() {
    let built = agent(&ScriptedModel::new([])).hooks(hooks![shorten]).build();
    assert!(matches!(built, Err(BuildError::HookForMissingTool { .. })));
    // A dynamic tool of that name is the tool: what the hook is for is a name and a type.
    let dynamic =
        agent(&ScriptedModel::new([])).dyn_tool(value_tool("find", json!("x"))).hooks(hooks![shorten]).build();
    assert!(dynamic.is_ok());
}

#[test]
fn p4_every_setting_that_is_data_is_restored() -> Tested {
    let model = ScriptedModel::new([]);
    let saved = agent(&model)
        .budget(Budget::new().max_tokens(5))
        .context_policy(ContextPolicy::new(1_000).preserve_recent(2))
        .retry(Retry::new().max_attempts(9))
        .tool_timeout(Duration::from_secs(7))
        .max_parallel_tools(3)
        .max_tool_corrections(4)
        .max_revisions(5)
        .lease(Duration::from_secs(11))
        .capture_content(true)
        .strict(true)
        .build()?
        .config();
    let read: AgentConfig = serde_json::from_str(&serde_json::to_string(&saved)?)?;
    assert_eq!(read, saved);
    assert_eq!(read.builder().model(model.clone()).build()?.config(), saved);
    assert_ne!(agent(&model).build()?.config(), saved);
    Ok(())
}

#[tokio::test]
async fn s8_a_direct_call_that_a_person_refuses_is_a_refused_call_whatever_corrections_a_run_may_take() {
    let pay =
        protolink::DynTool::new("pay", "Pay.", json!({ "type": "object" }), |_, _| async { Ok::<_, ToolError>(1) });
    let agent = Agent::builder("a")
        .model(ScriptedModel::new([]))
        .dyn_tool(pay.capability("money"))
        .policy(CapabilityPolicy::new().require_approval("money"))
        .approver(|_: &protolink::rules::ApprovalRequest| protolink::rules::Approval::Reject {
            reason: "no".to_owned(),
        })
        .max_tool_corrections(0)
        .build()
        .unwrap();
    let error = agent.call_tool("pay", json!({})).await.unwrap_err();
    assert!(matches!(&error, Error::CallRefused { tool, .. } if tool == "pay"), "{error:?}");
}

#[tokio::test]
async fn p6_an_approver_that_panics_has_not_approved_and_the_conversation_goes_on() {
    let pay = DynTool::new("pay", "Pay.", json!({ "type": "object" }), |_, _| async { Ok::<_, ToolError>(1) });
    let agent = Agent::builder("a")
        .model(ScriptedModel::new([Reply::call("pay", json!({})), Reply::text("done")]))
        .dyn_tool(pay.capability("money"))
        .policy(CapabilityPolicy::new().require_approval("money"))
        .approver(|_: &ApprovalRequest| -> Approval { panic!("no network") })
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    let error = conversation.invoke("pay").await.unwrap_err();
    assert!(matches!(&error, Error::ApprovalUnavailable { tool, .. } if tool == "pay"), "{error:?}");
    assert_eq!(conversation.invoke("never mind").await.unwrap().text(), "done");
}
