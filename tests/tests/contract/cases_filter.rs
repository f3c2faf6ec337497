//! A filter is a wall: runs that went wrong elsewhere because a filtered tool could still be reached.

use std::error::Error as StdError;

use protolink::durable::MemoryStore;
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{BoxFuture, CancellationToken};
use protolink_tests::{Counter, Path, agent, drain, effect, search_tool, sent, value_tool};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

#[tokio::test]
async fn m9_r1_a_tool_removed_at_the_first_step_has_no_effect() -> Tested {
    for path in Path::ALL {
        let counter = Counter::new();
        let model = ScriptedModel::new([Reply::call("eff", json!({})), Reply::text("done")]);
        let agent = agent(&model)
            .dyn_tool(effect("eff", &counter))
            .before_model("clears", |request: &mut ModelRequest<'_>| {
                if request.step() == 1 {
                    request.tools().retain(|_| false);
                }
            })
            .build()?;
        assert_eq!(path.run(&agent, "go").await.result?.text(), "done", "{path:?}");
        assert_eq!(counter.get(), 0);
        assert!(sent(&model.requests()[1])[1].contains("was rejected and nothing was done"));
    }
    Ok(())
}

#[tokio::test]
async fn m4_r2_a_tool_removed_at_the_second_step_ran_once() -> Tested {
    let counter = Counter::new();
    let model =
        ScriptedModel::new([Reply::call("eff", json!({})), Reply::call("eff", json!({ "n": 2 })), Reply::text("done")]);
    let agent = agent(&model)
        .dyn_tool(effect("eff", &counter))
        .before_model("clears", |request: &mut ModelRequest<'_>| {
            let step = request.step();
            request.tools().retain(|_| step != 2);
        })
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(counter.get(), 1);
    Ok(())
}

#[tokio::test]
async fn m9_r3_a_call_that_a_saved_conversation_replays_is_not_dispatched() -> Tested {
    for durable in [false, true] {
        let (counter, store) = (Counter::new(), MemoryStore::new());
        let model = ScriptedModel::new([
            Reply::call_with_id("c", "eff", json!({})),
            Reply::text("done"),
            // The model repeats what the history shows it, under the very same id.
            Reply::call_with_id("c", "eff", json!({})),
            Reply::text("done again"),
        ]);
        let build = || {
            let builder = agent(&model).dyn_tool(effect("eff", &counter)).before_model(
                "filters",
                |request: &mut ModelRequest<'_>| {
                    if request.history().iter().any(|message| !message.calls().is_empty())
                        && request.context().get("second").is_some()
                    {
                        request.tools().remove_named("eff");
                    }
                },
            );
            if durable { builder.durable(store.clone()).build() } else { builder.build() }
        };
        let mut agent = build()?;
        let mut conversation = if durable { agent.conversation_id("c").await? } else { agent.conversation() };
        conversation.invoke("go").await?;
        if durable {
            agent = build()?;
            conversation = agent.conversation_id("c").await?;
        }
        let outcome = conversation.run("again").context("second", true).await?;
        assert_eq!((outcome.answer().map(Answer::text), counter.get()), (Some("done again"), 1));
    }
    Ok(())
}

#[tokio::test]
async fn m9_r4_a_removed_tools_name_reaches_nobody() -> Tested {
    for (path, endless) in Path::ALL.into_iter().flat_map(|path| [(path, false), (path, true)]) {
        let model = ScriptedModel::from_fn(move |request| {
            if endless || request.messages.len() == 1 { Reply::call("nope", json!({})) } else { Reply::text("done") }
        });
        let model = model.without_native_tools();
        let agent = agent(&model)
            .dyn_tool(value_tool("secret", json!(1)))
            .dyn_tool(search_tool())
            .before_model("hides", |request: &mut ModelRequest<'_>| {
                request.tools().remove_named("secret");
            })
            .build()?;
        let ended = path.run(&agent, "go").await;
        for request in model.requests() {
            assert!(!format!("{request:?}").contains("secret"), "{path:?}: {request:?}");
        }
        match ended.result {
            Ok(answer) => assert!(!endless && answer.text() == "done"),
            Err(error) => assert!(endless && !format!("{error} {error:?}").contains("secret"), "{error:?}"),
        }
    }
    Ok(())
}

#[tokio::test]
async fn m8_r5_the_prompt_of_the_step_does_not_mention_what_was_removed() -> Tested {
    for sets in [false, true] {
        let model = ScriptedModel::new([Reply::call("other", json!({})), Reply::text("done")]).without_native_tools();
        let agent = agent(&model)
            .instructions("Base.")
            .dyn_tool(value_tool("tea", json!(1)))
            .dyn_tool(value_tool("other", json!(1)))
            .before_model("filters", move |request: &mut ModelRequest<'_>| {
                if request.step() == 2 {
                    request.tools().remove_named("tea");
                    let mut history = request.history();
                    if sets { history.set_system("Edited.") } else { history.append_system("Edited.") }
                }
            })
            .build()?;
        agent.invoke("go").await?;
        let requests = model.requests();
        assert!(requests[0].system.contains("- tea:"));
        assert!(
            !requests[1].system.contains("tea") && requests[1].system.contains("Edited."),
            "{}",
            requests[1].system
        );
        assert_eq!(requests[1].system.contains("- other:"), !sets);
    }
    Ok(())
}

#[tokio::test]
async fn m4_r6_two_runs_of_one_agent_have_a_roster_each() -> Tested {
    // The filtering run waits inside its hook until the other has made its request.
    let (filtered, asked) = (CancellationToken::new(), CancellationToken::new());
    let (mark, wait) = (filtered.clone(), asked.clone());
    let model = ScriptedModel::from_fn(|_| Reply::text("done"));
    let agent = agent(&model)
        .dyn_tool(value_tool("a", json!(1)))
        .dyn_tool(value_tool("b", json!(1)))
        .before_model("filters", |request: &mut ModelRequest<'_>| {
            if request.context().get("filter").is_some() {
                request.tools().remove_named("a");
            }
        })
        .before_model("waits", move |request: &mut ModelRequest<'_>| -> BoxFuture<'static, ()> {
            let filters = request.context().get("filter").is_some();
            let (filtered, asked) = (mark.clone(), wait.clone());
            Box::pin(async move {
                if filters {
                    filtered.cancel();
                    asked.cancelled().await;
                }
            })
        })
        .build()?;
    let filtering = agent.run("filtered").context("filter", true).start();
    filtered.cancelled().await;
    agent.invoke("whole").await?;
    asked.cancel();
    let _ = filtering.result().await?;
    agent.invoke("whole again").await?;
    let tools: Vec<_> = model.requests().iter().map(|r| format!("{}: {}", sent(r)[0], r.tools.join(" "))).collect();
    assert_eq!(tools, ["user: whole: a b", "user: filtered: b", "user: whole again: a b"]);
    Ok(())
}

#[tokio::test]
async fn m5_r7_a_tool_stays_away_whatever_a_later_hook_does() -> Tested {
    let counter = Counter::new();
    let model = ScriptedModel::new([Reply::call("eff", json!({})), Reply::text("done")]);
    let agent = agent(&model)
        .dyn_tool(effect("eff", &counter))
        .before_model("removes", |request: &mut ModelRequest<'_>| {
            request.tools().remove_named("eff");
        })
        .before_model("wants", |request: &mut ModelRequest<'_>| {
            // All that can be written: none of it brings the tool back.
            let (mut history, mut tools) = request.parts();
            history.append_system("The tool `eff` is available.");
            tools.retain(|_| true);
            assert!(!tools.remove_named("eff") && tools.is_empty());
        })
        .build()?;
    let ended = drain(agent.run("go").stream()).await;
    assert_eq!((ended.result?.text(), counter.get()), ("done", 0));
    Ok(())
}

#[tokio::test]
async fn m4_r9_an_empty_roster_advertises_nothing() -> Tested {
    for registered in [false, true] {
        let model = ScriptedModel::new([Reply::text("done")]).without_native_tools();
        let builder = agent(&model).instructions("Base.");
        let builder = if registered { builder.dyn_tool(search_tool()) } else { builder };
        let agent = builder
            .before_model("clears", |request: &mut ModelRequest<'_>| request.tools().retain(|_| false))
            .build()?;
        agent.invoke("go").await?;
        assert_eq!((model.requests()[0].system.as_str(), model.requests()[0].tools.len()), ("Base.", 0));
    }
    Ok(())
}
