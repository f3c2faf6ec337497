//! What is edited is what is sent, and what is kept.

use std::error::Error as StdError;
use std::sync::Arc;

use proptest::prelude::*;
use protolink::durable::{MemoryStore, RunStore};
use protolink::prelude::*;
use protolink::testing::{Reply, RequestFixture, ScriptedModel};
use protolink::{Captured, Change, Exchange, Stage, ToolCall, ToolOutcome, Turn};
use protolink_tests::{Boom, Counter, Path, agent, agent_once, drain, said, search_tool, sent};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

fn two_steps() -> ScriptedModel {
    ScriptedModel::new([Reply::call("search", json!({})), Reply::text("done")])
}

#[tokio::test]
async fn m8_r10_an_edited_system_message_is_the_same_everywhere() -> Tested {
    let (store, model) = (MemoryStore::new(), ScriptedModel::new([Reply::text("done")]));
    let agent = agent(&model)
        .instructions("Base.")
        .before_model("edits", |request: &mut ModelRequest<'_>| {
            let edited = format!("{} Édited – \"exactly\".", request.history().system());
            request.history().set_system(edited);
        })
        .capture_content(true)
        .durable(store.clone())
        .build()?;
    let ended = drain(agent.run("go").run_id("r").stream()).await;
    ended.result?;
    let expected = "Base. Édited – \"exactly\".";
    assert_eq!(model.requests()[0].system, expected);
    let told = ended.events.iter().find_map(|event| match event {
        RunEvent::HookRan { changes, .. } => changes.iter().find_map(|change| match change {
            Change::SystemSet { text: Captured::Content(text), .. } => Some(text.clone()),
            _ => None,
        }),
        _ => None,
    });
    assert_eq!(told.as_deref(), Some(expected));
    let rows = store.load(&"r".into()).await?.rows;
    let written = serde_json::to_string(expected)?;
    assert!(rows.iter().any(|row| row.payload.contains(&written)), "it is stored as it was sent");
    Ok(())
}

#[tokio::test]
async fn m13_r11_an_edit_from_now_on_adds_up_and_one_for_the_step_does_not() -> Tested {
    for (only_here, seen, kept) in
        [(false, ["user: go!", "user: go!!"], "user: go!!"), (true, ["user: go!", "user: go!"], "user: go")]
    {
        let model = two_steps();
        let agent = agent(&model)
            .dyn_tool(search_tool())
            .before_model("shouts", move |request: &mut ModelRequest<'_>| {
                let mut history = if only_here { request.this_step() } else { request.history() };
                history.edit(0, |message| {
                    let louder = format!("{}!", message.text().unwrap_or_default());
                    message.set_text(louder);
                });
            })
            .build()?;
        let mut conversation = agent.conversation();
        conversation.invoke("go").await?;
        let first: Vec<String> = model.requests().iter().map(|request| sent(request)[0].clone()).collect();
        assert_eq!(first, seen);
        assert_eq!(said(conversation.messages())[0], kept);
    }
    Ok(())
}

#[tokio::test]
async fn m2_r12_a_compacted_history_stays_compacted() -> Tested {
    let model = ScriptedModel::new([
        Reply::text("one"),
        Reply::text("two"),
        Reply::call("search", json!({})),
        Reply::text("three"),
    ]);
    let agent = agent(&model)
        .dyn_tool(search_tool())
        .before_model("compacts", |request: &mut ModelRequest<'_>| {
            let mut history = request.history();
            if history.len() >= 5 && request_is_first(&history) {
                while history.len() > 1 {
                    history.remove(0);
                }
                history.insert(0, Message::user("(what was said before, in short)"));
            }
        })
        .build()?;
    let mut conversation = agent.conversation();
    for prompt in ["a", "b", "c"] {
        conversation.invoke(prompt).await?;
    }
    let requests = model.requests();
    let compacted = ["user: (what was said before, in short)", "user: c"];
    assert_eq!(sent(&requests[2]), compacted);
    assert_eq!(sent(&requests[3])[..2], compacted, "the second step starts from the compacted history");
    assert_eq!(sent(&requests[3]).len(), 3);
    Ok(())
}

fn request_is_first(history: &protolink::HistoryMut<'_>) -> bool {
    history.iter().last().is_some_and(Message::is_user)
}

#[tokio::test]
async fn m2_r13_what_is_left_alone_stays_the_very_same() -> Tested {
    let model = ScriptedModel::new([Reply::text("one"), Reply::text("two")]);
    let agent = agent(&model)
        .before_model("removes", |request: &mut ModelRequest<'_>| {
            if request.history().len() == 3 {
                request.history().remove(1);
            }
        })
        .build()?;
    let mut conversation = agent.conversation();
    conversation.invoke("first \u{1F600}\u{0}\n\"x\"").await?;
    let before: Vec<Arc<Message>> = conversation.messages().to_vec();
    conversation.invoke("third").await?;
    let after = conversation.messages();
    assert_eq!(after.len(), 3);
    assert!(Arc::ptr_eq(&before[0], &after[0]), "it is not even copied");
    assert!(Arc::ptr_eq(&after[0], &model.requests()[1].messages[0]), "what is sent is what is kept");
    assert_eq!(said(after)[1..], ["user: third", "assistant: two"]);
    Ok(())
}

#[tokio::test]
async fn s5_r16_nothing_of_a_step_stays_when_a_later_hook_of_it_fails() -> Tested {
    for path in [Path::Plain, Path::Streamed] {
        let model = ScriptedModel::new([Reply::text("fine")]);
        let agent = agent(&model)
            .before_model("edits", |request: &mut ModelRequest<'_>| {
                request.history().push(Message::user("edit"));
                request.history().append_system("edit");
                request.tools().retain(|_| false);
            })
            .before_model("fails", |request: &mut ModelRequest<'_>| {
                request.history().remove(0);
                if request.context().get("fail").is_some() {
                    return Err(Boom("later"));
                }
                request.history().insert(0, Message::user("first"));
                Ok(())
            })
            .build()?;
        let mut conversation = agent.conversation();
        let run = conversation.run("go").context("fail", true);
        let failed = match path {
            Path::Streamed => drain(run.stream()).await.result.is_err(),
            _ => run.await.is_err(),
        };
        assert!(failed);
        assert_eq!(said(conversation.messages()), ["user: go"], "as after a crash, the step leaves nothing");
        conversation.invoke("again").await?;
        let request = &model.requests()[0];
        assert_eq!(sent(request), ["user: first", "user: again", "user: edit"]);
        assert_eq!(request.system, "edit", "the edit is there once");
    }
    Ok(())
}

#[tokio::test]
async fn m14_r17_a_cleared_history_is_not_sent() -> Tested {
    for by_removal in [true, false] {
        let model = ScriptedModel::new([Reply::text("never")]);
        let agent = agent(&model)
            .before_model("clears", move |request: &mut ModelRequest<'_>| {
                let mut history = request.history();
                if by_removal { while history.remove(0).is_some() {} } else { history.retain(|_| false) }
            })
            .build()?;
        let error = agent.invoke("go").await.expect_err("nothing is left");
        assert!(matches!(error, Error::EmptyRequest { stage: Stage::BeforeModel, step: 1, .. }));
        assert_eq!(model.request_count(), 0);
    }
    Ok(())
}

#[tokio::test]
async fn m6_r18_a_provider_that_fails_three_times_gets_four_equal_requests() -> Tested {
    let hooks = Counter::new();
    let ran = hooks.clone();
    let model =
        ScriptedModel::new([Reply::transient("1"), Reply::transient("2"), Reply::transient("3"), Reply::text("done")]);
    let agent = agent_once(&model)
        .before_model("stamps", move |request: &mut ModelRequest<'_>| {
            request.this_step().push(Message::user(format!("stamp {}", ran.next())));
        })
        .build()?;
    let mut conversation = agent.conversation();
    conversation.invoke("go").await?;
    let requests = model.requests();
    assert_eq!((hooks.get(), requests.len()), (1, 4));
    assert!(requests.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(said(conversation.messages()), ["user: go", "assistant: done"]);
    Ok(())
}

/// A message of a history, with calls or without.
fn message() -> impl Strategy<Value = Message> {
    let outcome = prop_oneof![
        Just(ToolOutcome::Observed(json!("seen").into())),
        Just(ToolOutcome::Failed("failed".to_owned())),
        Just(ToolOutcome::Rejected("rejected".to_owned())),
        Just(ToolOutcome::Denied("denied".to_owned())),
        Just(ToolOutcome::Cancelled),
        Just(ToolOutcome::Uncertain),
    ];
    let calls = proptest::collection::vec(outcome, 0..3).prop_map(|outcomes| {
        let exchange =
            |(index, outcome)| Exchange { call: ToolCall::new(format!("c{index}"), "t", json!({})), outcome };
        Message::Assistant(Turn::new(None, outcomes.into_iter().enumerate().map(exchange).collect()))
    });
    prop_oneof!["[a-z]{0,5}".prop_map(Message::user), "[a-z]{0,5}".prop_map(Message::assistant), calls]
}

/// An edit that the handle offers.
#[derive(Debug, Clone)]
enum Edit {
    Push(Message),
    Insert(usize, Message),
    Remove(usize),
    Retain(bool),
    Text(usize, String),
    Observed(usize, usize),
    System(String),
    Append(String),
    Reset,
}

fn edit() -> impl Strategy<Value = (bool, Edit)> {
    let edit = prop_oneof![
        message().prop_map(Edit::Push),
        (0..8_usize, message()).prop_map(|(index, message)| Edit::Insert(index, message)),
        (0..8_usize).prop_map(Edit::Remove),
        any::<bool>().prop_map(Edit::Retain),
        (0..8_usize, "[a-z]{0,3}").prop_map(|(index, text)| Edit::Text(index, text)),
        (0..8_usize, 0..3_usize).prop_map(|(index, call)| Edit::Observed(index, call)),
        "[a-z]{0,3}".prop_map(Edit::System),
        "[a-z]{0,3}".prop_map(Edit::Append),
        Just(Edit::Reset),
    ];
    (any::<bool>(), edit)
}

fn apply(request: &mut ModelRequest<'_>, only_here: bool, edit: Edit) {
    let mut history = if only_here { request.this_step() } else { request.history() };
    match edit {
        Edit::Push(message) => history.push(message),
        Edit::Insert(index, message) => history.insert(index, message),
        Edit::Remove(index) => drop(history.remove(index)),
        Edit::Retain(users) => history.retain(|message| message.is_user() == users || !message.calls().is_empty()),
        Edit::Text(index, text) => {
            history.edit(index, |message| message.set_text(text));
        }
        Edit::Observed(index, call) => {
            history.edit(index, |message| {
                // Whether there is such a call is said; that there is none is no error.
                let _ = message.set_observed(&format!("c{call}"), json!("changed"));
            });
        }
        Edit::System(text) => history.set_system(text),
        Edit::Append(text) => history.append_system(text),
        Edit::Reset => history.reset_system(),
    }
}

/// What a call is answered by, whatever a hook may show instead of a result.
fn kind(exchange: &Exchange) -> (String, std::mem::Discriminant<ToolOutcome>) {
    (exchange.call.id.clone(), std::mem::discriminant(&exchange.outcome))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn m12_r15_every_call_keeps_its_outcome_and_every_outcome_its_call(
        history in proptest::collection::vec(message(), 0..6),
        edits in proptest::collection::vec(edit(), 0..12),
    ) {
        let mut fixture = RequestFixture::new().system("base");
        let mut turns: Vec<Vec<_>> = Vec::new();
        for message in history {
            turns.push(message.calls().iter().map(kind).collect());
            fixture = fixture.message(message);
        }
        for (_, edit) in &edits {
            if let Edit::Push(message) | Edit::Insert(_, message) = edit {
                turns.push(message.calls().iter().map(kind).collect());
            }
        }
        for (only_here, edit) in edits {
            fixture.with(|request| apply(request, only_here, edit));
        }
        // Every turn that is left has exactly the calls and outcomes that some turn came with.
        for message in fixture.messages().iter().chain(fixture.sent_messages()) {
            let calls: Vec<_> = message.calls().iter().map(kind).collect();
            prop_assert!(turns.contains(&calls), "{message:?}");
        }
    }
}
