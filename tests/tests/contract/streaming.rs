//! A run as a stream: provisional text, what is taken back, and the validated answer last.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use protolink::durable::MemoryStore;
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{Outcome, before_complete, tool};
use serde_json::json;

/// Search the catalogue.
#[tool(capability = "catalogue")]
fn search(query: String) -> String {
    ["hits for ".to_owned(), query].concat()
}

/// The answer is not what it says.
#[derive(Debug, thiserror::Error)]
#[error("not good enough")]
struct NotGoodEnough;

#[before_complete]
fn refuse(_response: &mut FinalResponse<'_>) -> Result<(), NotGoodEnough> {
    Err(NotGoodEnough)
}

#[before_complete]
fn shout(response: &mut FinalResponse<'_>) {
    let text = response.text().unwrap_or_default().to_uppercase();
    response.set_text(text);
}

/// Reads a stream to its end.
async fn told(mut stream: protolink::RunStream<'_>) -> (Vec<RunEvent>, Option<Error>) {
    let (mut events, mut failure) = (Vec::new(), None);
    while let Some(event) = stream.next().await {
        assert!(failure.is_none(), "nothing comes after an error");
        match event {
            Ok(event) => events.push(event),
            Err(error) => failure = Some(error),
        }
    }
    assert!(StreamExt::next(&mut stream).await.is_none(), "an ended stream stays ended");
    (events, failure)
}

fn shown(events: &[RunEvent]) -> Vec<&str> {
    let mut shown = Vec::new();
    for event in events {
        if let RunEvent::TextDelta { text, .. } = event {
            shown.push(text.as_str());
        }
    }
    shown
}

/// The events, by what they are, without those that are of no matter here.
fn kinds(events: &[RunEvent]) -> Vec<String> {
    let kind = |event: &RunEvent| match event {
        RunEvent::TextDelta { text, .. } => Some(format!("text {text}")),
        RunEvent::Retracted { step } => Some(format!("retracted {step}")),
        RunEvent::ToolStarted { tool, .. } => Some(format!("started {tool}")),
        RunEvent::ToolFinished { tool, .. } => Some(format!("finished {tool}")),
        RunEvent::RevisionRequested { revision, .. } => Some(format!("revision {revision}")),
        RunEvent::Interrupted(_) => Some("interrupted".to_owned()),
        RunEvent::Completed(answer) => Some(format!("completed {answer}")),
        _ => None,
    };
    events.iter().filter_map(kind).collect()
}

fn searching() -> ScriptedModel {
    ScriptedModel::new([
        Reply::chunks(["Let me ", "look."])
            .then(Reply::call("search", json!({ "query": "lamps" })).saying("Let me look.")),
        Reply::chunks(["do", "ne"]),
    ])
}

#[tokio::test]
async fn f4_text_is_provisional_and_the_last_event_carries_the_validated_answer() {
    let agent = Agent::builder("a").model(searching()).tools(tools![search]).hooks(hooks![shout]).build().unwrap();
    let (events, error) = told(agent.run("go").stream()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        kinds(&events),
        [
            "text Let me ",
            "text look.",
            "retracted 1",
            "started search",
            "finished search",
            "text do",
            "text ne",
            "completed DONE",
        ]
    );
    assert!(matches!(events.last(), Some(RunEvent::Completed(_))));
}

#[tokio::test]
async fn f1_f6_a_refused_answer_is_taken_back_and_announced_nowhere() {
    let model = ScriptedModel::new([Reply::chunks(["do", "ne"])]);
    let agent = Agent::builder("a").model(model).hooks(hooks![refuse]).build().unwrap();
    let mut conversation = agent.conversation();
    let (events, error) = told(conversation.run("go").stream()).await;
    assert_eq!(kinds(&events), ["text do", "text ne", "retracted 1"]);
    let Some(Error::Hook { source, .. }) = error else { panic!("{error:?}") };
    assert!(source.is::<NotGoodEnough>());
    assert_eq!(conversation.messages().len(), 1, "the prompt stays, the answer does not");
}

#[tokio::test]
async fn f6_of_a_refused_answer_that_is_held_back_no_character_is_shown() {
    let model = ScriptedModel::new([Reply::chunks(["do", "ne"])]);
    let agent = Agent::builder("a").model(model).capture_content(true).hooks(hooks![refuse]).build().unwrap();
    let (events, error) = told(agent.run("go").hold_output(true).stream()).await;
    assert!(matches!(error, Some(Error::Hook { .. })), "{error:?}");
    assert_eq!(kinds(&events), Vec::<String>::new());
    assert!(!format!("{events:?} {error:?}").contains("done"));
}

#[tokio::test]
async fn f3_held_text_is_shown_as_the_check_left_it() {
    let agent = Agent::builder("a").model(searching()).tools(tools![search]).hooks(hooks![shout]).build().unwrap();
    let (events, error) = told(agent.run("go").hold_output(true).stream()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(kinds(&events), ["started search", "finished search", "text DONE", "completed DONE"]);
}

#[tokio::test]
async fn f4_an_answer_that_goes_back_is_taken_back() {
    let model = ScriptedModel::new([Reply::chunks(["dr", "aft"]), Reply::chunks(["fi", "nal"])]);
    let check = |response: &mut FinalResponse<'_>| {
        if response.text() == Some("draft") {
            response.ask_revision("more");
        }
    };
    let agent = |model: &ScriptedModel| {
        Agent::builder("a").model(model.clone()).max_revisions(1).before_complete("check", check).build().unwrap()
    };
    let (events, error) = told(agent(&model).run("go").stream()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        kinds(&events),
        ["text dr", "text aft", "retracted 1", "revision 1", "text fi", "text nal", "completed final"]
    );

    let model = ScriptedModel::new([Reply::chunks(["dr", "aft"]), Reply::chunks(["fi", "nal"])]);
    let (events, error) = told(agent(&model).run("go").hold_output(true).stream()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(kinds(&events), ["revision 1", "text final", "completed final"]);
}

#[tokio::test]
async fn f5_a_stream_that_a_limit_cut_is_taken_back() {
    let model = ScriptedModel::new([Reply::chunks(["do"]).then(Reply::truncated())]);
    let agent = Agent::builder("a").model(model.clone()).hooks(hooks![shout]).build().unwrap();
    let (events, error) = told(agent.run("go").stream()).await;
    assert!(matches!(error, Some(Error::Truncated { step: 1, .. })), "{error:?}");
    assert_eq!(kinds(&events), ["text do", "retracted 1"]);
    assert_eq!(model.request_count(), 1);
}

#[tokio::test]
async fn a_stream_that_broke_after_text_was_shown_is_not_repeated() {
    let model = ScriptedModel::new([Reply::chunks(["do"]).then(Reply::transient("reset")), Reply::text("done")]);
    let agent = Agent::builder("a").model(model.clone()).build().unwrap();
    let (events, error) = told(agent.run("go").stream()).await;
    assert!(matches!(error, Some(Error::Model { attempts: 1, .. })), "{error:?}");
    assert_eq!(kinds(&events), ["text do", "retracted 1"]);
    assert_eq!(model.request_count(), 1);

    // Held back, nothing was shown, so that asking again contradicts nothing.
    let model = ScriptedModel::new([Reply::chunks(["do"]).then(Reply::transient("reset")), Reply::text("done")]);
    let agent = Agent::builder("a").model(model).retry(protolink::testing::retry_at_once()).build().unwrap();
    let (events, error) = told(agent.run("go").hold_output(true).stream()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(kinds(&events), ["text done", "completed done"]);
}

#[tokio::test]
async fn f8_an_answer_is_checked_once_however_the_stream_is_read_or_not() {
    let checks = Arc::new(AtomicUsize::new(0));
    let agent = || {
        let count = Arc::clone(&checks);
        Agent::builder("a")
            .model(ScriptedModel::new([Reply::chunks(["do", "ne"])]))
            .before_complete("count", move |_: &mut FinalResponse<'_>| {
                count.fetch_add(1, Ordering::SeqCst);
            })
            .build()
            .unwrap()
    };
    agent().invoke("go").await.unwrap();
    assert_eq!(checks.swap(0, Ordering::SeqCst), 1, "awaited");

    told(agent().run("go").stream()).await;
    assert_eq!(checks.swap(0, Ordering::SeqCst), 1, "read as a stream");

    let handle = agent().run("go").start();
    let outcome = handle.result().await.unwrap();
    assert_eq!(outcome.answer().map(protolink::Answer::text), Some("done"));
    assert_eq!(checks.swap(0, Ordering::SeqCst), 1, "started, and no event read");

    let handle = agent().run("go").start();
    let (mut events, mut seen) = (handle.events(), Vec::new());
    while let Some(event) = events.next().await {
        seen.push(event);
    }
    assert!(matches!(handle.result().await, Ok(Outcome::Completed(_))));
    assert_eq!(checks.swap(0, Ordering::SeqCst), 1, "started, and every event read");
    assert_eq!(kinds(&seen), ["text do", "text ne", "completed done"]);

    drop(agent().run("go").stream());
    assert_eq!(checks.swap(0, Ordering::SeqCst), 0, "never read");
}

#[tokio::test]
async fn f4_no_event_of_a_long_stream_is_lost() {
    let chunks: Vec<String> = (0..5_000).map(|number| format!("{number} ")).collect();
    let whole = chunks.concat();
    let agent = Agent::builder("a").model(ScriptedModel::new([Reply::chunks(chunks)])).build().unwrap();
    let (events, error) = told(agent.run("go").stream()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(shown(&events).concat(), whole);
    assert!(matches!(events.last(), Some(RunEvent::Completed(answer)) if answer.text() == whole));
}

#[tokio::test]
async fn s7_dropping_the_stream_drops_the_run_where_it_waits() {
    struct OnDrop(Arc<AtomicUsize>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (dropped, checked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (guard, count) = (Arc::clone(&dropped), Arc::clone(&checked));
    let slow = protolink::DynTool::new("slow", "Takes its time.", json!({ "type": "object" }), move |_, _| {
        let guard = OnDrop(Arc::clone(&guard));
        async move {
            tokio::time::sleep(Duration::from_hours(1)).await;
            drop(guard);
            Ok::<_, std::io::Error>(json!("done"))
        }
    });
    let agent = Agent::builder("a")
        .model(ScriptedModel::new([Reply::call("slow", json!({})), Reply::text("done")]))
        .dyn_tool(slow)
        .before_complete("count", move |_: &mut FinalResponse<'_>| {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .build()
        .unwrap();
    let mut stream = agent.run("go").stream();
    loop {
        if let Some(Ok(RunEvent::ToolStarted { .. })) = stream.next().await {
            break;
        }
    }
    // The tool is under way, and waits.
    assert!(futures_util::poll!(std::pin::pin!(stream.next())).is_pending());
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    drop(stream);
    assert_eq!(dropped.load(Ordering::SeqCst), 1, "the tool's future is gone");
    assert_eq!(checked.load(Ordering::SeqCst), 0, "and no later stage ran");
}

#[tokio::test]
async fn f1_a_resumed_stream_checks_the_answer_and_ends_with_it() {
    let agent = Agent::builder("a")
        .model(searching())
        .tools(tools![search])
        .hooks(hooks![shout])
        .policy(CapabilityPolicy::new().require_approval("catalogue"))
        .durable(MemoryStore::new())
        .build()
        .unwrap();
    let (events, error) = told(agent.run("go").stream()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(kinds(&events), ["text Let me ", "text look.", "retracted 1", "interrupted"]);
    let Some(RunEvent::Interrupted(interruption)) = events.last() else { panic!("{events:?}") };

    let (events, error) = told(agent.resume(interruption.run_id.clone()).approve(interruption).stream()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(kinds(&events), ["started search", "finished search", "text do", "text ne", "completed DONE"]);
}

#[tokio::test]
async fn t3_observers_are_shown_text_only_where_content_is_captured() {
    for capture in [false, true] {
        let seen = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&seen);
        let agent = Agent::builder("a")
            .model(ScriptedModel::new([Reply::chunks(["do", "ne"])]))
            .capture_content(capture)
            .observer(move |event: &RunEvent| {
                if matches!(event, RunEvent::TextDelta { .. }) {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            })
            .build()
            .unwrap();
        let (events, _) = told(agent.run("go").stream()).await;
        assert_eq!(shown(&events), ["do", "ne"]);
        assert_eq!(seen.load(Ordering::SeqCst), if capture { 2 } else { 0 });
    }
}
