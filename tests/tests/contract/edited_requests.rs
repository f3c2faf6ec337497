//! M2, M8, M13, P3: what edits of one hook, of several and of both scopes come to, told place by place.

use std::error::Error as StdError;

use protolink::prelude::*;
use protolink::testing::{Reply, RequestFixture, ScriptedModel};
use protolink::{Change, Exchange, HookEffect, Message, RunEvent, ToolCall, ToolOutcome, Turn};
use protolink_tests::{Log, agent, agent_once, drain, said, sent, value_tool};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

fn texts<'m>(messages: impl IntoIterator<Item = &'m std::sync::Arc<Message>>) -> Vec<&'m str> {
    messages.into_iter().map(|message| message.text().unwrap_or_default()).collect()
}

#[test]
fn m13_a_message_that_stays_is_sent_behind_the_one_that_it_follows() {
    let mut fixture = RequestFixture::new().user("one").user("two").user("three").user("four");
    fixture.with(|request| {
        // From here on this request goes its own way: "one" stands elsewhere.
        request.this_step().insert(0, Message::user("here"));
        request.this_step().push(Message::user("end"));
        request.history().insert(2, Message::user("behind two"));
    });
    assert_eq!(texts(fixture.messages()), ["one", "two", "behind two", "three", "four"]);
    assert_eq!(texts(fixture.sent_messages()), ["here", "one", "two", "behind two", "three", "four", "end"]);
}

#[test]
fn m13_a_message_that_stays_is_sent_first_or_last_where_it_has_no_neighbour() {
    let mut fixture = RequestFixture::new().user("one").user("two").user("three");
    fixture.with(|request| {
        request.this_step().insert(0, Message::user("here"));
        request.this_step().remove(2);
        request.history().insert(0, Message::user("first"));
        // Its neighbour "two" is not sent.
        request.history().insert(3, Message::user("behind two"));
        request.this_step().push(Message::user("end"));
        request.history().push(Message::user("last"));
    });
    assert_eq!(texts(fixture.messages()), ["first", "one", "two", "behind two", "three", "last"]);
    assert_eq!(texts(fixture.sent_messages()), ["first", "here", "one", "three", "behind two", "end", "last"]);
}

#[test]
fn m13_a_message_is_found_in_what_is_sent_wherever_it_was_put() {
    let mut fixture = RequestFixture::new().user("one").user("two");
    fixture.with(|request| {
        request.history().insert(0, Message::user("first"));
        request.history().insert(1, Message::user("second"));
        request.this_step().push(Message::user("end"));
        request.history().remove(0);
        request.history().edit(0, |message| message.set_text("edited"));
    });
    assert_eq!(texts(fixture.messages()), ["edited", "one", "two"]);
    assert_eq!(texts(fixture.sent_messages()), ["edited", "one", "two", "end"]);
}

#[test]
fn m2_retain_takes_out_those_that_it_is_told_to_and_records_each() {
    let mut fixture = RequestFixture::new();
    for text in ["one", "two", "three", "four", "five"] {
        fixture = fixture.user(text);
    }
    fixture.with(|request| {
        let mut history = request.history();
        assert!(!history.is_empty());
        assert_eq!(history.get(1).and_then(Message::text), Some("two"));
        assert!(history.get(5).is_none());
        history.retain(|message| !matches!(message.text(), Some("one" | "two" | "four")));
        assert_eq!(history.len(), 2);
        history.retain(|_| false);
        assert!(history.is_empty());
    });
    assert!(fixture.messages().is_empty());
    let removed = fixture.changes().iter().map(|change| match change {
        Change::Removed { index, .. } => *index,
        other => panic!("{other:?}"),
    });
    assert_eq!(removed.collect::<Vec<_>>(), [0, 0, 1, 0, 0]);
}

#[test]
fn m2_an_outcome_in_the_middle_of_an_edit_is_read_as_it_was_set_last() {
    let exchange = |id: &str, outcome| Exchange { call: ToolCall::new(id, "find", json!({})), outcome };
    let turn = Turn::new(
        None,
        vec![
            exchange("a", ToolOutcome::Observed(json!(1).into())),
            exchange("b", ToolOutcome::Observed(json!(2).into())),
            exchange("c", ToolOutcome::Failed("no".to_owned())),
        ],
    );
    let mut fixture = RequestFixture::new().user("go").message(Message::Assistant(turn));
    fixture.with(|request| {
        assert!(request.history().edit(1, |message| {
            assert_eq!(message.observed("a"), Some(&json!(1)));
            assert_eq!(message.set_observed("a", "set").ok(), Some(true));
            assert_eq!(message.observed("a"), Some(&json!("set")), "what was set last");
            assert_eq!(message.observed("b"), Some(&json!(2)), "the other call is as it was");
            assert_eq!(message.observed("c"), None, "it failed");
            assert_eq!(message.set_observed("c", "set").ok(), Some(false));
            assert_eq!(message.observed("d"), None, "there is no such call");
        }));
    });
    assert_eq!(
        said(fixture.messages())[1],
        "assistant: find({}) = set | find({}) = 2 | find({}) = The tool failed: no"
    );
}

/// What each hook is said to have touched of the first step's request.
async fn differences(agent: &Agent) -> Vec<bool> {
    let ended = drain(agent.run("go").stream()).await;
    let effects = ended.events.into_iter().filter_map(|event| match event {
        RunEvent::HookRan { effect, .. } => Some(effect),
        _ => None,
    });
    effects.map(|HookEffect { difference, .. }| difference.is_some()).collect()
}

#[tokio::test]
async fn p3_whatever_a_hook_touches_of_a_request_is_told_by_its_difference() -> Tested {
    let model = ScriptedModel::new([Reply::text("done")]);
    let agent = agent(&model)
        .dyn_tool(value_tool("look", json!(1)))
        .before_model("history", |request: &mut ModelRequest<'_>| request.history().push(Message::user("more")))
        .before_model("this_step", |request: &mut ModelRequest<'_>| request.this_step().push(Message::user("here")))
        .before_model("system", |request: &mut ModelRequest<'_>| request.history().append_system("be brief"))
        .before_model("tools", |request: &mut ModelRequest<'_>| request.tools().retain(|_| false))
        .before_model("nothing", |request: &mut ModelRequest<'_>| request.tools().retain(|_| true))
        .build()?;
    assert_eq!(differences(&agent).await, [true, true, true, true, false]);
    Ok(())
}

#[tokio::test]
async fn m8_each_hook_has_a_section_of_its_own_under_its_own_name() -> Tested {
    let model = ScriptedModel::new([Reply::text("done")]);
    let log = Log::new();
    let seen = log.clone();
    let agent = agent(&model)
        .before_model("one", |request: &mut ModelRequest<'_>| request.history().append_system("1"))
        .before_model("two", |request: &mut ModelRequest<'_>| request.history().append_system("2"))
        .before_model("two", |request: &mut ModelRequest<'_>| request.history().append_system("3"))
        .observer(move |event: &RunEvent| {
            if let RunEvent::HookRan { changes, .. } = event {
                for change in changes {
                    let Change::SystemAppended { hook, .. } = change else { panic!("{change:?}") };
                    seen.add(hook);
                }
            }
        })
        .build()?;
    agent.invoke("go").await?;
    assert_eq!(model.requests()[0].system, "1\n\n2\n\n3");
    assert_eq!(log.lines(), ["one", "two", "two#2"]);
    Ok(())
}

#[tokio::test]
async fn s5_hooks_that_nobody_watches_stand_on_each_other() -> Tested {
    let model = ScriptedModel::new([Reply::text("done"), Reply::text("done")]);
    // Strict: each hook runs twice, and what stood before it is there both times.
    let agent = agent(&model)
        .dyn_tool(value_tool("look", json!(1)))
        .dyn_tool(value_tool("pay", json!(1)))
        .before_model("adds", |request: &mut ModelRequest<'_>| request.history().push(Message::user("more")))
        .before_model("takes", |request: &mut ModelRequest<'_>| {
            request.tools().remove_named("pay");
        })
        .before_model("looks", |request: &mut ModelRequest<'_>| {
            let found = (request.history().len(), request.tools().len());
            request.this_step().append_system(format!("{found:?}"));
        })
        .before_model("counts", |request: &mut ModelRequest<'_>| {
            let found = request.history().len();
            request.history().push(Message::user(format!("{found}")));
        })
        .build()?;
    let mut conversation = agent.conversation();
    conversation.invoke("go").await?;
    assert_eq!(sent(&model.requests()[0]), ["user: go", "user: more", "user: 2"]);
    assert_eq!(model.requests()[0].system, "(2, 1)");
    assert_eq!(model.requests()[0].tools, ["look"]);
    assert_eq!(said(conversation.messages()), ["user: go", "user: more", "user: 2", "assistant: done"]);
    Ok(())
}

#[tokio::test]
async fn s5_every_kind_of_edit_is_taken_back_with_the_step_that_failed() -> Tested {
    let model = ScriptedModel::new([Reply::text("one done"), Reply::text("three done")]);
    let agent = agent_once(&model)
        .before_model("edits", |request: &mut ModelRequest<'_>| {
            if request.history().len() == 3 {
                let mut history = request.history();
                history.edit(0, |message| message.set_text("edited"));
                history.remove(1);
                history.insert(0, Message::user("added"));
                history.set_system("set");
                history.edit(0, |message| message.set_text("edited again"));
            }
        })
        .before_model(
            "fails",
            |request: &mut ModelRequest<'_>| {
                if request.history().system() == "set" { Err("no") } else { Ok(()) }
            },
        )
        .build()?;
    let mut conversation = agent.conversation();
    conversation.invoke("one").await?;
    let before = said(conversation.messages());
    let failed = conversation.invoke("two").await.expect_err("the second hook fails");
    assert!(matches!(failed, Error::Hook { .. }), "{failed:?}");
    let kept = said(conversation.messages());
    assert_eq!(kept[..2], before, "what stood before the step stands as it did");
    assert_eq!(kept[2], "user: two");
    conversation.invoke("three").await?;
    assert_eq!(model.requests()[1].system, "");
    assert_eq!(sent(&model.requests()[1]), ["user: one", "assistant: one done", "user: two", "user: three"]);
    Ok(())
}
