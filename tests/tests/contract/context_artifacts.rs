//! Results that are too long for a request: shown in part, and read page by page (contract M7, T3).

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use protolink::durable::MemoryStore;
use protolink::prelude::*;
use protolink::rules::context::READ_ARTIFACT;
use protolink::rules::{Decision, Policy, PolicyRequest};
use protolink::testing::{RecordedRequest, Reply, ScriptedModel};
use protolink::{DynTool, ToolOutcome};
use serde_json::{Value, json};

/// A tool that gives this back.
fn gives(result: Value) -> DynTool {
    DynTool::new("eff", "Gives something.", json!({ "type": "object" }), move |_, _| {
        let result = result.clone();
        async move { Ok::<_, ToolError>(result) }
    })
}

fn read(artifact: &str, offset: usize) -> Reply {
    Reply::call(READ_ARTIFACT, json!({ "artifact": artifact, "offset": offset }))
}

/// The outcome of the newest call in a request.
fn newest(request: &RecordedRequest) -> &ToolOutcome {
    let exchanges = request.messages.iter().rev().flat_map(|message| message.calls().iter().rev());
    exchanges.map(|exchange| &exchange.outcome).next().unwrap()
}

fn newest_text(model: &ScriptedModel, request: usize) -> String {
    newest(&model.requests()[request]).to_model_text()
}

#[tokio::test]
async fn m7_r48_a_huge_result_is_a_preview_and_an_artifact_and_the_receipt_is_whole() {
    let model = ScriptedModel::new([Reply::call("eff", json!({})), read("call_1", 1_000_000), Reply::text("x")]);
    let huge = json!({ "rows": "z".repeat(5_000_000) });
    let receipts = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&receipts);
    let agent = Agent::builder("a")
        .model(model.clone())
        .dyn_tool(gives(huge.clone()))
        .context_policy(ContextPolicy::new(8_000).max_result_chars(2_000))
        .before_complete("keep", move |response: &mut FinalResponse<'_>| {
            kept.lock().unwrap().extend(response.receipts().iter().cloned());
        })
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    conversation.invoke("go").await.unwrap();

    let preview = newest_text(&model, 1);
    assert!(matches!(newest(&model.requests()[1]), ToolOutcome::Observed(value) if value.is_string()));
    assert!((1_900..=2_000).contains(&preview.chars().count()), "{}", preview.len());
    for said in ["5000011 characters", "read_artifact", "\"artifact\":\"call_1\"", "{\"rows\":\"zzz"] {
        assert!(preview.contains(said), "{said}: {}", &preview[..200]);
    }
    let ToolOutcome::Observed(page) = newest(&model.requests()[2]).clone() else { panic!() };
    assert_eq!(page["text"].as_str().unwrap().len(), 2_000);
    assert_eq!((&page["offset"], &page["next_offset"]), (&json!(1_000_000), &json!(1_002_000)));
    assert_eq!(receipts.lock().unwrap()[0].result(), Some(&huge), "the receipt keeps what really happened");
    let whole = &conversation.messages()[1].calls()[0].outcome;
    assert_eq!(whole, &ToolOutcome::Observed(huge.into()), "the conversation stays whole");
}

/// Reads an artifact to its end, and gives the pages joined.
async fn read_to_the_end(result: Value, limit: usize) -> String {
    let pages = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&pages);
    let model = ScriptedModel::from_fn(move |request| {
        if request.messages.len() == 1 {
            return Reply::call_with_id("one", "eff", json!({}));
        }
        let offset = match newest(request).observed() {
            Some(page) if page.get("next_offset").is_some() => {
                kept.lock().unwrap().push(page["text"].as_str().unwrap().to_owned());
                page["next_offset"].as_u64()
            }
            _ => Some(0),
        };
        match offset {
            Some(offset) => Reply::call(READ_ARTIFACT, json!({ "artifact": "one", "offset": offset })),
            None => Reply::text("read"),
        }
    });
    let agent = Agent::builder("a")
        .model(model)
        .dyn_tool(gives(result))
        .context_policy(ContextPolicy::new(u64::MAX).max_result_chars(limit))
        .budget(Budget::new().max_steps(10_000))
        .build()
        .unwrap();
    agent.invoke("go").await.unwrap();
    let pages = pages.lock().unwrap();
    assert!(pages.iter().all(|page| page.chars().count() <= limit.max(1)));
    pages.concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn m7_r44_pages_join_to_the_original(text in "\\PC{0,120}|[a-z\u{0}\u{e9}\u{1F600}\n\"\\\\]{0,120}", limit in 0_usize..200) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let plain = runtime.block_on(read_to_the_end(json!(text), limit));
        prop_assert_eq!(&plain, &text);
        let value = json!({ "text": text, "more": [1, null] });
        let joined = runtime.block_on(read_to_the_end(value.clone(), limit));
        prop_assert_eq!(joined, value.to_string());
    }

    #[test]
    fn m7_r44_no_text_limit_or_offset_panics(text in "\\PC{0,40}", limit in 0_usize..50, offset in any::<u64>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = json!({ "artifact": "call_1", "offset": offset });
        let model = ScriptedModel::new([Reply::call("eff", json!({})), Reply::call(READ_ARTIFACT, read), Reply::text("x")]);
        let agent = Agent::builder("a")
            .model(model.clone())
            .dyn_tool(gives(json!({ "text": text })))
            .context_policy(ContextPolicy::new(u64::MAX).max_result_chars(limit))
            .build()
            .unwrap();
        runtime.block_on(agent.invoke("go")).unwrap();
    }
}

#[tokio::test]
async fn m7_r64_a_preview_does_not_point_at_a_tool_that_is_not_there() {
    let model = ScriptedModel::new([Reply::call("eff", json!({})), read("call_1", 0), Reply::text("x")]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .dyn_tool(gives(json!("z".repeat(5_000))))
        .context_policy(ContextPolicy::new(8_000).max_result_chars(500))
        .before_model("no reader", |request: &mut ModelRequest<'_>| {
            request.tools().remove_named(READ_ARTIFACT);
        })
        .build()
        .unwrap();
    agent.invoke("go").await.unwrap();
    let preview = newest_text(&model, 1);
    assert!(preview.contains("5000 characters") && preview.contains("zzz"), "{preview}");
    assert!(!preview.contains("artifact"), "{preview}");
    assert!(matches!(newest(&model.requests()[2]), ToolOutcome::Rejected(_)), "a removed reader reads nothing");
}

#[tokio::test]
async fn m7_f19_what_is_kept_aside_is_what_the_hooks_let_the_model_see() {
    let model = ScriptedModel::new([Reply::call("eff", json!({})), read("call_1", 0), Reply::text("x")]);
    let ran = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&ran);
    let agent = Agent::builder("a")
        .model(model.clone())
        .dyn_tool(gives(json!({ "secret": "s3cr3t", "big": "z".repeat(600) })))
        .context_policy(ContextPolicy::new(32_000).max_result_chars(150))
        .after_tool("redact", move |observation: &mut ToolObservation<'_>| {
            noted.lock().unwrap().push((observation.step(), observation.tool().to_owned()));
            if observation.result().get("secret").is_some() {
                observation.result_mut()["secret"] = json!("[hidden]");
            }
        })
        .build()
        .unwrap();
    agent.invoke("go").await.unwrap();
    assert_eq!(*ran.lock().unwrap(), [(1, "eff".to_owned()), (2, READ_ARTIFACT.to_owned())], "hooks see the pages too");
    let page = newest_text(&model, 2);
    assert!(page.contains("zzz") && page.len() > 150, "a page is not kept aside itself: {page}");
    let all = format!("{:?}", model.requests());
    assert!(!all.contains("s3cr3t"), "{all}");
}

#[tokio::test]
async fn m13_what_this_step_hides_cannot_be_read_around_it() {
    let model = ScriptedModel::new([Reply::call("eff", json!({})), read("call_1", 0), Reply::text("x")]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .dyn_tool(gives(json!(format!("s3cr3t {}", "z".repeat(600)))))
        .context_policy(ContextPolicy::new(32_000).max_result_chars(150))
        .before_model("hide", |request: &mut ModelRequest<'_>| {
            let mut here = request.this_step();
            for index in 0..here.len() {
                here.edit(index, |message| {
                    let _ = message.set_observed("call_1", "y".repeat(600));
                });
            }
        })
        .build()
        .unwrap();
    agent.invoke("go").await.unwrap();
    let ToolOutcome::Observed(page) = newest(&model.requests()[2]).clone() else { panic!() };
    assert_eq!(page["text"], "y".repeat(150));
    assert!(!format!("{:?}", model.requests()).contains("s3cr3t"));
}

/// Wants to be asked about reading.
struct AskToRead;

impl Policy for AskToRead {
    fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
        if request.tool.name() == READ_ARTIFACT { Decision::RequireApproval } else { Decision::Allow }
    }
}

#[tokio::test]
async fn m13_what_this_step_hides_is_not_read_after_a_resume_either() {
    for hides in [true, false] {
        let model = ScriptedModel::new([Reply::call("eff", json!({})), read("call_1", 0), Reply::text("x")]);
        let agent = Agent::builder("a")
            .model(model.clone())
            .dyn_tool(gives(json!(format!("s3cr3t {}", "z".repeat(600)))))
            .context_policy(ContextPolicy::new(32_000).max_result_chars(150))
            .policy(AskToRead)
            .durable(MemoryStore::new())
            .before_model("hide", move |request: &mut ModelRequest<'_>| {
                if hides && request.step() == 2 {
                    request.this_step().edit(1, |message| {
                        let _ = message.set_observed("call_1", "y".repeat(600));
                    });
                }
                if request.step() == 3 {
                    request.this_step().remove(1);
                }
            })
            .build()
            .unwrap();
        let Error::Interrupted(interruption) = agent.invoke("go").await.unwrap_err() else { panic!() };
        let outcome = agent.resume(interruption.run_id.clone()).approve(&interruption).await.unwrap();
        assert!(matches!(outcome, Outcome::Completed(_)));
        let outcome = newest_text(&model, 2);
        assert_eq!(outcome.contains("s3cr3t"), !hides, "{outcome}");
    }
}

#[tokio::test]
async fn m7_reading_what_is_not_there_is_a_correction() {
    let long = json!("z".repeat(600));
    for (arguments, reason) in [
        (json!({ "artifact": "call_9" }), "no such artifact"),
        (json!({ "artifact": "call_1#2" }), "no such artifact"),
        (json!({ "artifact": "call_1#0" }), "no such artifact"),
        (json!({ "artifact": 1 }), "must be a text"),
        (json!({}), "must be a text"),
        (json!({ "artifact": "call_1", "offset": -1 }), "must be an integer"),
        (json!({ "artifact": "call_1", "offset": "0" }), "must be an integer"),
        (json!({ "artifact": "call_1", "offset": 601 }), "600 characters"),
        (json!({ "artifact": "call_1", "limit": 5 }), "no arguments beside"),
    ] {
        let model = ScriptedModel::new([
            Reply::call("eff", json!({})),
            Reply::call(READ_ARTIFACT, arguments.clone()),
            Reply::text("x"),
        ]);
        let agent = Agent::builder("a")
            .model(model.clone())
            .dyn_tool(gives(long.clone()))
            .context_policy(ContextPolicy::new(32_000).max_result_chars(150))
            .build()
            .unwrap();
        agent.invoke("go").await.unwrap();
        let outcome = newest(&model.requests()[2]).clone();
        let ToolOutcome::Rejected(said) = &outcome else { panic!("{arguments}: {outcome:?}") };
        assert!(said.contains(reason), "{arguments}: {said}");
    }
}

#[tokio::test]
async fn m7_calls_of_one_id_are_told_apart() {
    let replies = [
        Reply::call_with_id("c", "eff", json!({ "n": "one" })),
        Reply::text("1"),
        Reply::call_with_id("c", "eff", json!({ "n": "two" })),
        read("c", 0),
        read("c#2", 0),
        Reply::text("2"),
    ];
    let model = ScriptedModel::new(replies);
    let echo = DynTool::new("eff", "Says it at length.", json!({ "type": "object" }), |arguments, _| async move {
        Ok::<_, ToolError>(json!(arguments["n"].as_str().unwrap_or_default().repeat(200)))
    });
    let agent = Agent::builder("a")
        .model(model.clone())
        .dyn_tool(echo)
        .context_policy(ContextPolicy::new(32_000).max_result_chars(300))
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    conversation.invoke("go").await.unwrap();
    conversation.invoke("again").await.unwrap();
    assert!(newest_text(&model, 3).contains("\"c#2\""), "{}", newest_text(&model, 3));
    assert!(newest_text(&model, 4).contains("oneoneone"));
    assert!(newest_text(&model, 5).contains("twotwotwo"));
}

#[tokio::test]
async fn m7_what_a_failing_tool_says_at_length_is_kept_aside_too() {
    let model = ScriptedModel::new([Reply::call("eff", json!({})), read("call_1", 100), Reply::text("x")]);
    let fails = DynTool::new("eff", "Fails.", json!({ "type": "object" }), |_, _| async move {
        Err::<Value, _>(ToolError::failed("e".repeat(5_000)))
    })
    .on_error(protolink::OnError::Report);
    let agent = Agent::builder("a")
        .model(model.clone())
        .dyn_tool(fails)
        .context_policy(ContextPolicy::new(8_000).max_result_chars(400))
        .build()
        .unwrap();
    agent.invoke("go").await.unwrap();
    let shown = newest(&model.requests()[1]).clone();
    assert!(matches!(&shown, ToolOutcome::Failed(text) if text.len() <= 400 && text.contains("5000")), "{shown:?}");
    assert!(newest_text(&model, 2).contains("\"next_offset\":500"));
}

#[tokio::test]
async fn m7_a_cleared_result_can_be_read_again() {
    let model = ScriptedModel::new([
        Reply::call("eff", json!({})),
        Reply::call("eff", json!({})),
        Reply::call("eff", json!({})),
        read("call_1", 0),
        Reply::text("x"),
    ]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .dyn_tool(gives(json!("z".repeat(1_000))))
        .context_policy(ContextPolicy::new(800).max_result_chars(1_200))
        .build()
        .unwrap();
    agent.invoke("go").await.unwrap();
    let fourth = model.requests()[3].clone();
    let oldest = fourth.messages[1].calls()[0].outcome.to_model_text();
    assert!(oldest.contains("cleared") && oldest.contains("\"call_1\""), "{oldest}");
    assert!(newest_text(&model, 4).contains(&"z".repeat(1_000)));
}
