//! Strict mode: a hook that does something else the second time is found, and what each hook did is on record.

use std::error::Error as StdError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{SystemTime, UNIX_EPOCH};

use protolink::durable::{HookRecord, MemoryStore, Record};
use protolink::prelude::*;
use protolink::testing::{
    ObservationFixture, Reply, RequestFixture, ResponseFixture, ScriptedModel, assert_repeatable,
    assert_repeatable_async,
};
use protolink::{AgentBuilder, Captured, Digest, HookEffect, Stage};
use protolink_tests::{Counter, Log, agent, search_tool, value_tool};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

fn script() -> ScriptedModel {
    ScriptedModel::new([Reply::call("search", json!({ "query": "lamps" })), Reply::text("two lamps")])
}

/// A strict agent that makes one tool call and answers; it may show contents.
fn strict() -> AgentBuilder {
    agent(&script()).strict(true).capture_content(true).dyn_tool(search_tool())
}

/// Runs, and gives what the one hook of the agent did first and then; it must not be the same.
async fn both_lists(builder: AgentBuilder, at: Stage) -> Result<(String, String), Box<dyn StdError>> {
    let error = match builder.build()?.invoke("go").await {
        Err(error @ Error::NotRepeatable { .. }) => error,
        other => return Err(format!("at {at}: {other:?}").into()),
    };
    let text = error.to_string();
    let Error::NotRepeatable { stage, hook, first, second, .. } = error else { return Err("it is".into()) };
    assert_eq!((stage, hook.as_str()), (at, "fickle"));
    for change in first.iter().chain(&second) {
        assert!(text.contains(&format!("{change:?}")), "the text shows both lists: {text}");
    }
    Ok((format!("{first:?}"), format!("{second:?}")))
}

fn nanoseconds() -> u128 {
    // The clock may stand still between two runs of a hook.
    std::thread::sleep(std::time::Duration::from_millis(2));
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_nanos()
}

#[tokio::test]
async fn s2_a_hook_that_counts_is_shown_with_both_lists() -> Tested {
    let next = || {
        let counter = Counter::new();
        move || format!("run {}", counter.next())
    };
    let before_model = next();
    let after_tool = next();
    let before_complete = next();
    let cases = [
        (
            Stage::BeforeModel,
            strict().before_model("fickle", move |request: &mut ModelRequest<'_>| {
                request.history().append_system(before_model());
            }),
        ),
        (
            Stage::AfterTool,
            strict().after_tool("fickle", move |observation: &mut ToolObservation<'_>| {
                observation.set_result(after_tool())
            }),
        ),
        (
            Stage::BeforeComplete,
            strict().before_complete("fickle", move |response: &mut FinalResponse<'_>| {
                response.set_text(before_complete());
            }),
        ),
    ];
    for (stage, builder) in cases {
        let (first, second) = both_lists(builder, stage).await?;
        assert!(first.contains("run 1") && second.contains("run 2"), "{stage}: {first} / {second}");
    }
    Ok(())
}

#[tokio::test]
async fn s2_an_async_hook_that_looks_at_the_clock_is_found_too() -> Tested {
    let cases = [
        (
            Stage::BeforeModel,
            strict().before_model("fickle", async |request: &mut ModelRequest<'_>| {
                tokio::task::yield_now().await;
                request.history().push(Message::user(nanoseconds().to_string()));
            }),
        ),
        (
            Stage::AfterTool,
            strict().after_tool("fickle", async |observation: &mut ToolObservation<'_>| {
                tokio::task::yield_now().await;
                observation.set_result(nanoseconds().to_string())
            }),
        ),
        (
            Stage::BeforeComplete,
            strict().max_revisions(1).before_complete("fickle", async |response: &mut FinalResponse<'_>| {
                tokio::task::yield_now().await;
                response.ask_revision(nanoseconds().to_string());
            }),
        ),
    ];
    for (stage, builder) in cases {
        let (first, second) = both_lists(builder, stage).await?;
        assert_ne!(first, second, "{stage}");
    }
    Ok(())
}

#[tokio::test]
async fn s2_one_that_does_something_only_once_is_found() -> Tested {
    let counter = Counter::new();
    let removes = strict().before_model("fickle", move |request: &mut ModelRequest<'_>| {
        if counter.next() == 2 {
            request.tools().remove_named("search");
        }
    });
    let (first, second) = both_lists(removes, Stage::BeforeModel).await?;
    assert_eq!(first, "[]");
    assert!(second.contains("search"), "{second}");
    Ok(())
}

#[tokio::test]
async fn t3_f6_the_lists_hold_no_result_and_no_answer_unless_contents_may_be_shown() -> Tested {
    let counter = Counter::new();
    let builder = strict().capture_content(false).after_tool("fickle", move |observation: &mut ToolObservation<'_>| {
        observation.set_result(format!("secret {}", counter.next()))
    });
    let (first, second) = both_lists(builder, Stage::AfterTool).await?;
    assert!(!first.contains("secret") && !second.contains("secret"), "{first} / {second}");
    assert_ne!(first, second, "their digests tell them apart");
    let counter = Counter::new();
    let builder = strict().capture_content(false).before_complete("fickle", move |response: &mut FinalResponse<'_>| {
        response.set_text(format!("secret {}", counter.next()));
    });
    let (first, second) = both_lists(builder, Stage::BeforeComplete).await?;
    assert!(!first.contains("secret") && !second.contains("secret"), "{first} / {second}");
    Ok(())
}

#[before_model]
async fn shorten(request: &mut ModelRequest<'_>) {
    tokio::task::yield_now().await;
    request.history().edit(0, |message| message.set_text("Lamps?"));
}

/// Hooks that do the same each time, sync and async, at every stage.
fn repeatable(builder: AgentBuilder) -> AgentBuilder {
    builder
        .dyn_tool(value_tool("idle", json!(null)))
        .before_model("narrow", |request: &mut ModelRequest<'_>| {
            request.tools().remove_named("idle");
            request.history().append_system("Be brief.");
            request.this_step().push(Message::user("(lamps only)"));
        })
        .hooks(hooks![shorten])
        .after_tool("redact", |observation: &mut ToolObservation<'_>| observation.set_result("[2 hits]"))
        .after_tool("look", async |observation: &mut ToolObservation<'_>| {
            tokio::task::yield_now().await;
            assert_eq!(observation.result(), "[2 hits]");
        })
        .before_complete("sign", async |response: &mut FinalResponse<'_>| {
            tokio::task::yield_now().await;
            let signed = format!("{} -- shop", response.text().unwrap_or_default());
            response.set_text(signed);
        })
}

#[tokio::test]
async fn s2_repeatable_hooks_do_under_strict_mode_what_they_do_without() -> Tested {
    let mut requests = Vec::new();
    for strictly in [false, true] {
        let model = script();
        let agent = repeatable(agent(&model).strict(strictly).dyn_tool(search_tool())).build()?;
        assert_eq!(agent.invoke("Which lamps do you have?").await?.text(), "two lamps -- shop");
        requests.push(model.requests());
    }
    assert_eq!(requests[0], requests[1]);
    Ok(())
}

fn records(journal: &[Record]) -> Vec<HookRecord> {
    let of = |record: &Record| match record {
        Record::Replied(replied) => replied.hooks.clone(),
        Record::Completed { hooks, .. } => hooks.clone(),
        _ => Vec::new(),
    };
    journal.iter().flat_map(of).collect()
}

fn digest(value: serde_json::Value) -> Result<Digest, &'static str> {
    match Captured::Content(value).without_content() {
        Captured::Digest { digest, .. } => Ok(digest),
        Captured::Content(_) => Err("the content is still there"),
    }
}

#[tokio::test]
async fn p3_what_hooks_did_stands_in_events_and_in_the_journal_alike() -> Tested {
    let seen = Log::new();
    let log = seen.clone();
    let observer = move |event: &RunEvent| {
        if let RunEvent::HookRan { stage, hook, step, changes, effect, .. } = event {
            log.add(format!("{stage} {hook} {step} {} {effect:?}", changes.len()));
        }
    };
    let builder = agent(&script()).observer(observer).durable(MemoryStore::new()).dyn_tool(search_tool());
    let agent = repeatable(builder).build()?;
    let _ = agent.run("Which lamps do you have?").run_id("r").await?;
    let records = records(&agent.journal("r").await?);
    let told: Vec<String> = records
        .iter()
        .map(|hook| format!("{} {} {} {} {:?}", hook.stage, hook.hook, hook.step, hook.changes, hook.effect))
        .collect();
    assert_eq!(seen.lines(), told);

    let effect = |name: &str| -> &HookEffect { &records.iter().find(|hook| hook.hook == name).expect("it ran").effect };
    let narrow = effect("narrow");
    assert_eq!((&narrow.tools_removed[..], narrow.messages_changed), (&["idle".to_owned()][..], 1));
    assert!(narrow.system_changed);
    let shorten = effect("shorten");
    assert_eq!((shorten.messages_changed, shorten.system_changed), (1, false));
    let redact = effect("redact").difference.as_ref().ok_or("it changed the result")?;
    assert_eq!(redact.before, digest(json!({ "query": "lamps" }))?);
    assert_eq!(redact.after, digest(json!("[2 hits]"))?);
    assert_eq!(redact.bytes, i64::try_from(r#""[2 hits]""#.len())? - i64::try_from(r#"{"query":"lamps"}"#.len())?);
    assert_eq!(effect("look"), &HookEffect::default(), "it only looked");
    assert_eq!(effect("sign").difference.as_ref().map(|difference| difference.bytes), Some(8));
    let text = format!("{records:?}");
    assert!(!text.contains("lamps") && !text.contains("hits") && !text.contains("shop"), "{text}");
    Ok(())
}

/// What a hook did to a request, by the digests of these texts.
fn assert_difference(effect: &HookEffect, before: &str, after: &str) -> Tested {
    let difference = effect.difference.as_ref().ok_or("it changed the request")?;
    assert_eq!(difference.before, Digest::of(before.as_bytes()), "{before}");
    assert_eq!(difference.after, Digest::of(after.as_bytes()), "{after}");
    assert_eq!(difference.bytes, i64::try_from(after.len())? - i64::try_from(before.len())?);
    Ok(())
}

#[tokio::test]
async fn p3_the_digests_of_a_request_cover_what_the_hook_touched_and_no_more() -> Tested {
    let agent = repeatable(agent(&script()).durable(MemoryStore::new()).dyn_tool(search_tool())).build()?;
    let _ = agent.run("Which lamps do you have?").run_id("r").await?;
    let records = records(&agent.journal("r").await?);
    let effects = |name: &str| -> Vec<HookEffect> {
        records.iter().filter(|hook| hook.hook == name).map(|hook| hook.effect.clone()).collect()
    };
    let json = |text: &str| serde_json::to_string(&Message::user(text));

    let [first, second] = &effects("narrow")[..] else { panic!("{records:?}") };
    let shown = json("(lamps only)")?;
    assert_difference(
        first,
        r#"{"system":"","this_step":[],"tools":["search","idle"]}"#,
        &format!(r#"{{"system":"Be brief.","this_step":[[1,{shown}]],"tools":["search"]}}"#),
    )?;
    assert_difference(
        second,
        r#"{"system":"Be brief.","this_step":[],"tools":["search","idle"]}"#,
        &format!(r#"{{"system":"Be brief.","this_step":[[2,{shown}]],"tools":["search"]}}"#),
    )?;

    let [first, second] = &effects("shorten")[..] else { panic!("{records:?}") };
    let (long, short) = (json("Which lamps do you have?")?, json("Lamps?")?);
    let history = |message: &str| format!(r#"{{"history":[[0,{message}]]}}"#);
    assert_difference(first, &history(&long), &history(&short))?;
    assert_difference(second, &history(&short), &history(&short))?;
    Ok(())
}

#[tokio::test]
async fn p3_a_message_that_is_touched_often_counts_once_and_is_digested_as_it_was_and_as_it_is() -> Tested {
    let agent = agent(&ScriptedModel::new([Reply::text("done")]))
        .durable(MemoryStore::new())
        .before_model("rework", |request: &mut ModelRequest<'_>| {
            let mut history = request.history();
            history.edit(0, |message| message.set_text("once"));
            history.insert(0, Message::user("before"));
            history.edit(1, |message| message.set_text("twice"));
            history.push(Message::user("not for long"));
            history.remove(2);
        })
        .build()?;
    let _ = agent.run("at first").run_id("r").await?;
    let records = records(&agent.journal("r").await?);
    let effect = &records[0].effect;
    assert_eq!((records[0].changes, effect.messages_changed), (5, 3));
    let json = |text: &str| serde_json::to_string(&Message::user(text));
    assert_difference(
        effect,
        &format!(r#"{{"history":[[0,{}]]}}"#, json("at first")?),
        &format!(r#"{{"history":[[1,{}],[0,{}]]}}"#, json("twice")?, json("before")?),
    )
}

fn panic_of(run: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("it panics");
    panic.downcast_ref::<String>().cloned().expect("it says why")
}

#[test]
fn s2_a_single_hook_is_shown_to_be_repeatable_or_not() {
    assert_repeatable(
        || RequestFixture::new().user("a").tool_named("x"),
        |request| {
            request.tools().remove_named("x");
            request.history().remove(0);
        },
    );
    let counter = Counter::new();
    let said = panic_of(|| {
        assert_repeatable(
            || RequestFixture::new().user("a"),
            |request| {
                request.history().push(Message::user(format!("run {}", counter.next())));
            },
        );
    });
    assert!(said.contains("run 1") && said.contains("run 2"), "{said}");

    let said = panic_of(|| {
        assert_repeatable(
            || ObservationFixture::json("search", json!(1)),
            |observation| observation.set_result(counter.next()),
        );
    });
    assert!(said.contains("\nfirst: ") && said.contains("\n then: "), "{said}");

    let said = panic_of(|| {
        assert_repeatable(
            || ResponseFixture::text("a"),
            |_| match counter.next() % 2 {
                0 => Ok(()),
                _ => Err("it is odd"),
            },
        );
    });
    assert!(said.contains("it is odd"), "{said}");
}

#[test]
fn s2_a_single_async_hook_is_shown_to_be_repeatable_or_not() -> Tested {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(assert_repeatable_async(
        || ObservationFixture::json("search", json!(1)),
        async |observation| {
            tokio::task::yield_now().await;
            observation.set_result(2)
        },
    ));
    let counter = Counter::new();
    let said = panic_of(|| {
        runtime.block_on(assert_repeatable_async(
            || ResponseFixture::text("a"),
            async |response| {
                tokio::task::yield_now().await;
                response.ask_revision(format!("run {}", counter.next()));
            },
        ));
    });
    assert!(said.contains("run 1") && said.contains("run 2"), "{said}");
    Ok(())
}
