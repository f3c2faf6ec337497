//! P3, T3: what a run tells `tracing`, read back by a layer of a subscriber as an exporter would.

mod spans_read_back;

use std::error::Error as StdError;

use protolink::async_trait;
use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest};
use protolink::prelude::*;
use protolink::rules::Retry;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{DynTool, ToolError};
use protolink_tests::{Boom, agent, failing_tool, value_tool};
use serde_json::json;
use spans_read_back::{Recorded, SpansReadBack};

type Tested = Result<(), Box<dyn StdError>>;

const SECRETS: [&str; 7] = [
    "s3cret-prompt",
    "s3cret-system",
    "s3cret-argument",
    "s3cret-result",
    "s3cret-seen",
    "s3cret-answer",
    "s3cret-out",
];

fn secretive() -> ScriptedModel {
    ScriptedModel::new([
        Reply::transient("503"),
        Reply::call("look", json!({ "at": "s3cret-argument" })),
        Reply::text("s3cret-answer"),
    ])
}

/// An agent with a tool and a hook of each stage, in which everything that could be content is a secret.
fn watched(capture: bool) -> Result<Agent, protolink::BuildError> {
    agent(&secretive())
        .instructions("s3cret-system")
        .capture_content(capture)
        .dyn_tool(value_tool("look", json!("s3cret-result")))
        .dyn_tool(value_tool("idle", json!(null)))
        .before_model("narrow", |request: &mut ModelRequest<'_>| {
            request.tools().remove_named("idle");
            request.history().append_system("s3cret-system");
        })
        .after_tool("redact", |observation: &mut ToolObservation<'_>| observation.set_result("s3cret-seen"))
        .before_complete("sign", |response: &mut FinalResponse<'_>| response.set_text("s3cret-out"))
        .build()
}

async fn spans_of_a_run(capture: bool) -> Result<Vec<Recorded>, Error> {
    let spans = SpansReadBack::new();
    let guard = spans.watch();
    let _ = watched(capture).expect("it is complete").run("s3cret-prompt").run_id("r-1").await?;
    drop(guard);
    Ok(spans.all())
}

fn named<'s>(spans: &'s [Recorded], name: &str) -> Vec<&'s Recorded> {
    spans.iter().filter(|span| span.name == name).collect()
}

#[tokio::test]
async fn p3_a_run_is_a_span_with_its_requests_and_tool_calls_inside() -> Tested {
    let spans = spans_of_a_run(false).await?;
    let [run] = named(&spans, "invoke_agent")[..] else { panic!("{spans:?}") };
    assert_eq!(run.get("otel.name"), "invoke_agent tester");
    assert_eq!(run.get("gen_ai.operation.name"), "invoke_agent");
    assert_eq!(run.get("gen_ai.agent.name"), "tester");
    assert_eq!(run.get("protolink.run.id"), "r-1");
    assert_eq!((run.get("protolink.run.outcome"), run.get("protolink.run.steps")), ("completed", "2"));
    assert!(run.has("gen_ai.usage.input_tokens") && run.has("gen_ai.usage.output_tokens"));
    assert!(!run.has("error.type"));

    let chats = named(&spans, "chat");
    let facts: Vec<_> = chats.iter().map(|chat| (chat.get("protolink.step"), chat.get("protolink.attempt"))).collect();
    assert_eq!(facts, [("1", "1"), ("1", "2"), ("2", "1")]);
    assert_eq!((chats[0].get("otel.status_code"), chats[0].get("error.type")), ("ERROR", "model_transient"));
    assert_eq!(chats[1].get("gen_ai.response.finish_reasons"), r#"["tool_call"]"#);
    assert_eq!(chats[2].get("gen_ai.response.finish_reasons"), r#"["stop"]"#);
    for chat in chats {
        assert_eq!((chat.get("gen_ai.operation.name"), chat.get("otel.kind")), ("chat", "client"));
        assert_eq!(chat.get("gen_ai.provider.name"), run.get("gen_ai.provider.name"));
        assert_eq!(chat.get("gen_ai.request.model"), run.get("gen_ai.request.model"));
        assert_eq!(chat.get("protolink.tools"), "1", "the hook took the other one out");
    }

    let [tool] = named(&spans, "execute_tool")[..] else { panic!("{spans:?}") };
    assert_eq!(tool.get("otel.name"), "execute_tool look");
    assert_eq!(tool.get("gen_ai.operation.name"), "execute_tool");
    assert_eq!((tool.get("gen_ai.tool.name"), tool.get("gen_ai.tool.type")), ("look", "function"));
    assert_eq!((tool.get("gen_ai.tool.call.id"), tool.get("protolink.tool.outcome")), ("call_1", "returned"));
    assert!(tool.has("protolink.tool.result.digest"));

    for span in spans.iter().filter(|span| span.name != "invoke_agent") {
        assert_eq!(span.parent.as_deref(), Some("invoke_agent"), "{span:?}");
        assert!(span.closed, "its duration is known: {span:?}");
    }
    Ok(())
}

#[tokio::test]
async fn p3_a_hook_is_a_span_with_stage_name_and_number_of_changes() -> Tested {
    let spans = spans_of_a_run(false).await?;
    let facts: Vec<_> = named(&spans, "hook")
        .into_iter()
        .map(|hook| {
            (
                hook.get("protolink.hook.stage"),
                hook.get("protolink.hook.name"),
                hook.get("protolink.step"),
                hook.get("protolink.hook.changes"),
                hook.get("protolink.hook.tools_removed"),
            )
        })
        .collect();
    assert_eq!(
        facts,
        [
            ("before_model", "narrow", "1", "2", "1"),
            ("after_tool", "redact", "1", "1", "0"),
            ("before_model", "narrow", "2", "2", "1"),
            ("before_complete", "sign", "2", "1", "0"),
        ]
    );
    let redact = named(&spans, "hook")[1];
    assert_ne!(redact.get("protolink.hook.digest_before"), redact.get("protolink.hook.digest_after"));
    let bytes = r#""s3cret-seen""#.len().abs_diff(r#""s3cret-result""#.len());
    assert_eq!(redact.get("protolink.hook.size_difference"), format!("-{bytes}"));
    let narrow = named(&spans, "hook")[0];
    assert_ne!(narrow.get("protolink.hook.digest_before"), narrow.get("protolink.hook.digest_after"));
    Ok(())
}

#[tokio::test]
async fn t3_spans_hold_no_content_unless_its_capture_is_switched_on() -> Tested {
    let quiet = format!("{:?}", spans_of_a_run(false).await?);
    for secret in SECRETS {
        assert!(!quiet.contains(secret), "{secret} is told: {quiet}");
    }
    let spans = spans_of_a_run(true).await?;
    let chat = named(&spans, "chat")[2];
    assert!(chat.get("gen_ai.system_instructions").contains("s3cret-system"));
    let input: serde_json::Value = serde_json::from_str(chat.get("gen_ai.input.messages"))?;
    assert_eq!(
        input,
        json!([
            { "role": "user", "parts": [{ "type": "text", "content": "s3cret-prompt" }] },
            { "role": "assistant", "parts": [
                { "type": "tool_call", "id": "call_1", "name": "look", "arguments": { "at": "s3cret-argument" } },
            ] },
            { "role": "tool", "parts": [{ "type": "tool_call_response", "id": "call_1", "response": "s3cret-seen" }] },
        ])
    );
    assert!(chat.get("gen_ai.output.messages").contains("s3cret-answer"));
    let tool = named(&spans, "execute_tool")[0];
    assert!(tool.get("gen_ai.tool.call.arguments").contains("s3cret-argument"));
    assert!(tool.get("gen_ai.tool.call.result").contains("s3cret-result"));
    Ok(())
}

#[tokio::test]
async fn p3_what_failed_says_of_what_kind_and_not_with_what() -> Tested {
    let spans = SpansReadBack::new();
    let guard = spans.watch();
    let model = ScriptedModel::new([Reply::call("look", json!({})), Reply::text("done")]);
    let failing = agent(&model)
        .dyn_tool(failing_tool("look"))
        .before_complete("check", |_: &mut FinalResponse<'_>| Err::<(), _>(Boom("s3cret")))
        .build()?;
    failing.run("go").await.expect_err("a tool or the check fails");
    drop(guard);
    let spans = spans.all();
    let tool = named(&spans, "execute_tool")[0];
    assert_eq!((tool.get("protolink.tool.outcome"), tool.get("error.type")), ("failed", "tool_failed"));
    let run = named(&spans, "invoke_agent")[0];
    assert_eq!((run.get("protolink.run.outcome"), run.get("otel.status_code")), ("failed", "ERROR"));
    assert!(run.has("error.type"));
    assert!(!format!("{spans:?}").contains("s3cret"), "{spans:?}");
    Ok(())
}

/// The spans of one run, however it ends.
async fn spans_of(agent: &Agent) -> Vec<Recorded> {
    let spans = SpansReadBack::new();
    let guard = spans.watch();
    let _ = agent.run("go").await;
    drop(guard);
    spans.all()
}

#[tokio::test]
async fn p3_every_way_in_which_a_request_fails_has_a_word_of_its_own() -> Tested {
    for (reply, word) in [
        (Reply::transient("503"), "model_transient"),
        (Reply::permanent("401"), "model"),
        (Reply::panic("oh"), "model_panicked"),
    ] {
        let agent = Agent::builder("a").model(ScriptedModel::new([reply])).retry(Retry::never()).build()?;
        let spans = spans_of(&agent).await;
        let chat = named(&spans, "chat")[0];
        assert_eq!((chat.get("error.type"), chat.get("otel.status_code")), (word, "ERROR"));
    }
    let agent = Agent::builder("a").model(CutOff).build()?;
    assert_eq!(named(&spans_of(&agent).await, "chat")[0].get("error.type"), "truncated");
    Ok(())
}

/// A model whose adapter notices by itself that the reply was cut off.
struct CutOff;

#[async_trait]
impl Model for CutOff {
    fn id(&self) -> ModelId {
        ModelId::new("tests", "cut-off")
    }

    async fn respond(&self, _: &PreparedRequest<'_>, _: &mut ChunkSink<'_>) -> Result<ModelReply, ModelError> {
        Err(ModelError::truncated("the length limit"))
    }
}

#[tokio::test]
async fn p3_every_way_in_which_a_call_ends_has_a_word_of_its_own() -> Tested {
    let any = || json!({ "type": "object" });
    let tools = [
        (value_tool("act", json!(1)), "returned", None::<&str>),
        (failing_tool("act"), "failed", Some("tool_failed")),
        (
            DynTool::new("act", "Acts.", any(), |_, _| async { Err::<(), _>(ToolError::rejected("no")) }),
            "rejected",
            Some("tool_rejected"),
        ),
        (
            DynTool::new("act", "Acts.", any(), |_, _| async { Err::<(), _>(ToolError::uncertain("lost")) }),
            "uncertain",
            Some("tool_uncertain"),
        ),
        (
            DynTool::new("act", "Acts.", any(), |_, _| async { Ok::<_, ToolError>(f64::NAN) }),
            "unkept",
            Some("tool_value"),
        ),
    ];
    for (tool, outcome, error) in tools {
        let model = ScriptedModel::new([Reply::call("act", json!({})), Reply::text("done")]);
        let agent = agent(&model).dyn_tool(tool).build()?;
        let spans = spans_of(&agent).await;
        let call = named(&spans, "execute_tool")[0];
        assert_eq!(call.get("protolink.tool.outcome"), outcome);
        assert_eq!((call.has("error.type"), call.has("otel.status_code")), (error.is_some(), error.is_some()));
        assert_eq!(error.unwrap_or("(not recorded)"), call.get("error.type"));
    }
    Ok(())
}

#[test]
fn the_lines_of_otlp_export_in_the_document_are_those_of_the_example() -> Tested {
    let read = |path: &str| std::fs::read_to_string(format!("{}/../{path}", env!("CARGO_MANIFEST_DIR")));
    let (document, example) = (read("docs/telemetry.md")?, read("examples/otlp.rs")?);
    let (_, shown) = document.split_once("```rs\n").ok_or("the document shows them")?;
    let (shown, _) = shown.split_once("```").ok_or("the block ends")?;
    let example: Vec<&str> = example.lines().map(str::trim_start).collect();
    let shown: Vec<&str> = shown.lines().map(str::trim_start).collect();
    assert!(shown.len() > 3 && example.windows(shown.len()).any(|lines| lines == shown), "{shown:#?}");
    Ok(())
}
