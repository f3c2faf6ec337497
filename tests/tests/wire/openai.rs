//! OpenAI's chat format over loopback HTTP: what reaches the wire, and replies as real servers write them.

use std::sync::{Arc, Mutex};

use protolink::model::{FinishReason, GenaiModel, Usage};
use protolink::prelude::*;
use protolink::testing::Reply;
use protolink::testing::server::{ModelServer, ServerReply};
use protolink::{Attachment, BuildError, Content, Turn, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::streamed;

/// Search the catalogue.
#[tool]
fn search(
    /// What to look for.
    query: String,
) -> String {
    ["hits for ".to_owned(), query].concat()
}

/// Say what time it is.
#[tool]
fn now() -> String {
    "noon".to_owned()
}

/// Delete a document for good.
#[tool]
fn delete_document(id: String) -> String {
    id
}

fn model(server: &ModelServer) -> GenaiModel {
    GenaiModel::new("any-model").base_url(server.base_url())
}

fn agent(server: &ModelServer) -> Result<Agent, BuildError> {
    Agent::builder("a").model(model(server)).tools(tools![search, now, delete_document]).build()
}

fn frame(data: &Value) -> String {
    format!("data: {data}\n\n")
}

fn delta(delta: &Value) -> String {
    frame(&json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] }))
}

fn finish(reason: &str) -> String {
    frame(&json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }))
}

const DONE: &str = "data: [DONE]\n\n";

/// The tool messages of a request, as pairs of call id and content.
fn results(request: &Value) -> Vec<(String, String)> {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let tools = messages.into_iter().filter(|message| message["role"] == "tool");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    tools.map(|message| (text(&message["tool_call_id"]), text(&message["content"]))).collect()
}

#[tokio::test]
async fn m4_removed_tool_is_absent_from_the_request_of_its_step_only() {
    let server = ModelServer::start([Reply::call("now", json!({})), Reply::text("done")]).await.unwrap();
    let agent = Agent::builder("a")
        .model(model(&server))
        .tools(tools![search, now, delete_document])
        .before_model("select", |request: &mut ModelRequest<'_>| {
            if request.step() == 1 {
                request.tools().remove::<delete_document>();
            }
        })
        .build()
        .unwrap();
    agent.invoke("go").await.unwrap();

    let requests = server.requests();
    assert_eq!(requests[0].tool_names(), ["search", "now"]);
    assert!(!String::from_utf8_lossy(&requests[0].body).contains("delete_document"));
    assert_eq!(requests[1].tool_names(), ["search", "now", "delete_document"]);
}

#[tokio::test]
async fn m2_m13_edited_history_is_what_is_sent_and_edits_of_a_step_are_sent_once() {
    let server = ModelServer::start([Reply::call("now", json!({})), Reply::text("done")]).await.unwrap();
    let agent = Agent::builder("a")
        .instructions("Be brief.")
        .model(model(&server))
        .tools(tools![now])
        .before_model("edit", |request: &mut ModelRequest<'_>| {
            if request.step() == 1 {
                request.history().edit(0, |message| message.set_text("What time is it, please?"));
                request.this_step().push(Message::user("only now"));
                request.this_step().set_system("Be very brief.");
            }
        })
        .build()
        .unwrap();
    agent.invoke("time?").await.unwrap();

    let sent: Vec<Value> = server.requests().iter().map(|request| request.json()["messages"].clone()).collect();
    assert_eq!(
        sent[0],
        json!([
            { "role": "system", "content": "Be very brief." },
            { "role": "user", "content": "What time is it, please?" },
            { "role": "user", "content": "only now" },
        ])
    );
    assert_eq!(
        sent[1],
        json!([
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "What time is it, please?" },
            { "role": "assistant", "content": "", "tool_calls": [
                { "type": "function", "id": "call_1", "function": { "name": "now", "arguments": "{}" } },
            ] },
            { "role": "tool", "content": "noon", "tool_call_id": "call_1" },
        ])
    );
}

#[tokio::test]
async fn nothing_that_was_configured_is_dropped() {
    let server = ModelServer::start([Reply::text("done")]).await.unwrap();
    let model = GenaiModel::new("qwen-max")
        .base_url(format!("{}/", server.base_url()))
        .api_key("a-key")
        .header("x-team", "lamps")
        .option("temperature", 0.25)
        .option("top_p", 0.5)
        .option("max_tokens", 77)
        .option("seed", 7)
        .option("stop", json!(["END"]))
        .option("repetition_penalty", 1.5);
    let agent = Agent::builder("a").instructions("Be brief.").model(model).tools(tools![search]).build().unwrap();
    let picture = Attachment::base64("image/png", "aGk=");
    agent.invoke(Content::text("look").with_attachment(picture)).await.unwrap();

    let request = &server.requests()[0];
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some("Bearer a-key"));
    assert_eq!(request.header("x-team"), Some("lamps"));
    let body = request.json();
    assert_eq!(body["model"], "qwen-max", "the name is sent as it is");
    assert_eq!(body.get("reasoning_effort"), None, "and nothing is read out of it");
    assert_eq!(body["temperature"], 0.25);
    assert_eq!(body["top_p"], 0.5);
    assert_eq!(body["max_tokens"], 77);
    assert_eq!(body["seed"], 7);
    assert_eq!(body["stop"], json!(["END"]));
    assert_eq!(body["repetition_penalty"], 1.5);
    let user = &body["messages"][1]["content"];
    assert_eq!(user[0], json!({ "type": "text", "text": "look" }));
    assert_eq!(user[1]["image_url"]["url"], "data:image/png;base64,aGk=");
    let function = &body["tools"][0]["function"];
    assert_eq!(function["name"], "search");
    assert_eq!(function["description"], "Search the catalogue.");
    assert_eq!(function["parameters"]["properties"]["query"]["description"], "What to look for.");
    assert_eq!(function["parameters"]["required"], json!(["query"]));
}

#[tokio::test]
async fn an_attachment_that_the_provider_would_not_be_sent_is_refused() {
    let server = ModelServer::start([Reply::text("done")]).await.unwrap();
    let agent = agent(&server).unwrap();
    let sound = Attachment::url("audio/mpeg", "http://127.0.0.1/a.mp3");
    let error = agent.invoke(Content::text("listen").with_attachment(sound)).await.unwrap_err();
    let Error::Model { source, .. } = error else { panic!("{error:?}") };
    assert_eq!(
        source.to_string(),
        "the model refused the request: the provider `openai` takes no audio attachment by its URL"
    );
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_server_that_wants_no_key_is_sent_none() {
    let server = ModelServer::start([Reply::text("done"), Reply::text("done")]).await.unwrap();
    agent(&server).unwrap().invoke("go").await.unwrap();
    let elsewhere = GenaiModel::new("m").base_url(format!("{}/deep/er?version=2", server.url())).header("x-a", "b");
    Agent::builder("a").model(elsewhere).build().unwrap().invoke("go").await.unwrap();

    let requests = server.requests();
    assert_eq!(requests[0].header("authorization"), None);
    assert_eq!(requests[1].path, "/deep/er/chat/completions?version=2");
    assert_eq!(requests[1].header("x-a"), Some("b"));
}

#[tokio::test]
async fn a_key_is_read_from_the_environment_that_is_named() {
    let server = ModelServer::start([Reply::text("done")]).await.unwrap();
    let model = model(&server).api_key_env("PROTOLINK_TEST_KEY_THAT_NOBODY_SETS");
    let error = Agent::builder("a").model(model).build().unwrap().invoke("go").await.unwrap_err();
    let Error::Model { source, attempts: 1, .. } = error else { panic!("{error:?}") };
    assert!(source.to_string().contains("PROTOLINK_TEST_KEY_THAT_NOBODY_SETS"), "{source}");
}

#[tokio::test]
async fn t6_streamed_calls_interleaved_by_index_are_answered_under_their_ids() {
    let call = |index: usize, id: Option<&str>, name: Option<&str>, arguments: &str| {
        let mut call = json!({ "index": index, "function": { "arguments": arguments } });
        if let (Some(id), Some(name)) = (id, name) {
            call["id"] = id.into();
            call["type"] = "function".into();
            call["function"]["name"] = name.into();
        }
        call
    };
    let pieces = [
        delta(&json!({ "role": "assistant", "content": null })),
        delta(
            &json!({ "tool_calls": [call(0, Some("id-a"), Some("search"), ""), call(1, Some("id-b"), Some("search"), "{\"que")] }),
        ),
        delta(&json!({ "tool_calls": [call(1, None, None, "ry\": \"b")] })),
        delta(&json!({ "tool_calls": [call(0, None, None, "{\"query\":")] })),
        delta(&json!({ "tool_calls": [call(1, None, None, "\"}"), call(0, None, None, "\"a\"}")] })),
        finish("tool_calls"),
        DONE.to_owned(),
    ];
    let server = ModelServer::start([ServerReply::stream(pieces), Reply::text("done").into()]).await.unwrap();
    let (_, answer) = streamed(&agent(&server).unwrap(), "go").await;
    assert_eq!(answer.unwrap(), "done");

    let second = server.requests()[1].json();
    let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
    assert_eq!(results(&second), [pair("id-a", "hits for a"), pair("id-b", "hits for b")]);
    let calls = &second["messages"][1]["tool_calls"];
    assert_eq!(calls[0]["id"], "id-a");
    assert_eq!(calls[1]["function"]["arguments"], "{\"query\":\"b\"}");
}

#[tokio::test]
async fn t6_a_gap_in_the_indices_of_streamed_calls_makes_no_call_twice() {
    let call = json!({ "index": 1, "id": "x", "function": { "name": "now", "arguments": "" } });
    let rest = json!({ "index": 1, "function": { "arguments": "{}" } });
    let pieces = [
        delta(&json!({ "tool_calls": [call] })),
        delta(&json!({ "tool_calls": [rest] })),
        finish("tool_calls"),
        DONE.to_owned(),
    ];
    let server = ModelServer::start([ServerReply::stream(pieces), Reply::text("done").into()]).await.unwrap();
    let (_, answer) = streamed(&agent(&server).unwrap(), "go").await;
    assert_eq!(answer.unwrap(), "done");
    assert_eq!(results(&server.requests()[1].json()), [("x".to_owned(), "noon".to_owned())]);
}

#[tokio::test]
async fn a_call_without_arguments_is_a_call_with_none() {
    let whole = |arguments: Value| {
        let call = json!({ "id": "n", "type": "function", "function": { "name": "now", "arguments": arguments } });
        ServerReply::status(200).json(json!({ "choices": [{
            "message": { "role": "assistant", "content": null, "tool_calls": [call] },
            "finish_reason": "tool_calls",
        }] }))
    };
    for arguments in [json!(null), json!(""), json!("null"), json!({}), json!("{}")] {
        let server = ModelServer::start([whole(arguments.clone()), Reply::text("done").into()]).await.unwrap();
        assert_eq!(agent(&server).unwrap().invoke("go").await.unwrap().text(), "done", "{arguments}");
        let second = server.requests()[1].json();
        assert_eq!(results(&second), [("n".to_owned(), "noon".to_owned())]);
        assert_eq!(second["messages"][1]["content"], "", "what was not said is not made up");
    }
    for arguments in [json!(null), json!("")] {
        let call = json!({ "index": 0, "id": "n", "function": { "name": "now", "arguments": arguments } });
        let pieces = [delta(&json!({ "content": "", "tool_calls": [call] })), finish("tool_calls"), DONE.to_owned()];
        let server = ModelServer::start([ServerReply::stream(pieces), Reply::text("done").into()]).await.unwrap();
        let (_, answer) = streamed(&agent(&server).unwrap(), "go").await;
        assert_eq!(answer.unwrap(), "done", "{arguments}");
        assert_eq!(results(&server.requests()[1].json()), [("n".to_owned(), "noon".to_owned())]);
    }
}

#[tokio::test]
async fn t6_calls_without_ids_and_types_are_told_apart() {
    let call = |query: &str| json!({ "function": { "name": "search", "arguments": { "query": query } } });
    let reply = ServerReply::status(200).json(json!({
        "choices": [{ "message": { "tool_calls": [call("a"), call("b")] }, "finish_reason": "tool_calls" }],
        "usage": { "prompt_tokens": 5, "completion_tokens": 2 },
    }));
    let server = ModelServer::start([reply, Reply::text("done").usage(7, 1).into()]).await.unwrap();
    let answer = agent(&server).unwrap().invoke("go").await.unwrap();
    let results = results(&server.requests()[1].json());
    assert_eq!(results.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), ["hits for a", "hits for b"]);
    assert_ne!(results[0].0, results[1].0);
    assert_eq!(answer.usage(), Usage::new(12, 3));
}

#[tokio::test]
async fn a_stream_may_be_cut_at_any_byte() {
    let call =
        json!({ "index": 0, "id": "x", "function": { "name": "search", "arguments": "{\"query\":\"žluť 🌍\"}" } });
    let first = [delta(&json!({ "tool_calls": [call] })), finish("tool_calls"), DONE.to_owned()].concat();
    let text = "příliš žluťoučký kůň 🐎 — 完";
    let second = [": keep-alive\n\n".to_owned(), delta(&json!({ "content": text })), finish("stop"), DONE.to_owned()];
    let by_bytes = |text: &str| ServerReply::stream(text.bytes().map(|byte| vec![byte]).collect::<Vec<_>>());
    let server = ModelServer::start([by_bytes(&first), by_bytes(&second.concat())]).await.unwrap();
    let (shown, answer) = streamed(&agent(&server).unwrap(), "go").await;
    assert_eq!(answer.unwrap(), text);
    assert_eq!(shown, text);
    assert_eq!(results(&server.requests()[1].json()), [("x".to_owned(), "hits for žluť 🌍".to_owned())]);
}

#[tokio::test]
async fn frames_may_end_in_any_line_ending_and_share_a_piece() {
    let body =
        [delta(&json!({ "content": "do" })), delta(&json!({ "content": "ne" })), finish("stop"), DONE.to_owned()];
    for ending in ["\n", "\r\n", "\r"] {
        let body = body.concat().replace('\n', ending);
        let server = ModelServer::start([ServerReply::stream([body])]).await.unwrap();
        let (shown, answer) = streamed(&agent(&server).unwrap(), "go").await;
        assert_eq!((shown.as_str(), answer.unwrap().as_str()), ("done", "done"), "{ending:?}");
    }
}

#[tokio::test]
async fn f5_a_length_stop_is_no_answer_and_runs_no_call() {
    let cut =
        json!({ "index": 0, "id": "x", "function": { "name": "delete_document", "arguments": "{\"id\":\"1\"}" } });
    let streamed_calls = [delta(&json!({ "tool_calls": [cut] })), finish("length"), DONE.to_owned()];
    let replies = [ServerReply::from(Reply::truncated()), ServerReply::stream(streamed_calls)];
    for reply in replies {
        let server = ModelServer::start([reply]).await.unwrap();
        let receipts = Arc::new(Mutex::new(0));
        let count = Arc::clone(&receipts);
        let agent = Agent::builder("a")
            .model(model(&server))
            .tools(tools![delete_document])
            .observer(move |event: &RunEvent| {
                if matches!(event, RunEvent::ToolStarted { .. }) {
                    *count.lock().unwrap() += 1;
                }
            })
            .build()
            .unwrap();
        let (_, answer) = streamed(&agent, "go").await;
        assert!(matches!(answer, Err(Error::Truncated { step: 1, .. })), "{answer:?}");
        assert_eq!(*receipts.lock().unwrap(), 0);
        assert_eq!(server.requests().len(), 1, "asking again would be cut off again");
    }
}

#[tokio::test]
async fn f5_a_call_whose_arguments_stop_half_way_is_not_executed() {
    let whole = json!({ "choices": [{
        "message": { "content": null, "tool_calls": [
            { "id": "x", "type": "function", "function": { "name": "delete_document", "arguments": "{\"id\": \"1" } },
        ] },
        "finish_reason": "tool_calls",
    }] });
    let server = ModelServer::start([ServerReply::status(200).json(whole)]).await.unwrap();
    let error = agent(&server).unwrap().invoke("go").await.unwrap_err();
    assert!(matches!(error, Error::Truncated { step: 1, .. }), "{error:?}");

    let call = json!({ "index": 0, "id": "x", "function": { "name": "delete_document", "arguments": "{\"id\": \"1" } });
    let pieces = [delta(&json!({ "tool_calls": [call] })), finish("tool_calls"), DONE.to_owned()];
    let server = ModelServer::start([ServerReply::stream(pieces)]).await.unwrap();
    let (_, answer) = streamed(&agent(&server).unwrap(), "go").await;
    assert!(matches!(answer, Err(Error::Truncated { step: 1, .. })), "{answer:?}");
}

#[tokio::test]
async fn usage_and_finish_reasons_are_reported_whole_and_streamed() {
    let server = ModelServer::start([Reply::call("now", json!({})).usage(10, 3), Reply::text("done").usage(20, 4)])
        .await
        .unwrap();
    let agent = agent(&server).unwrap();
    let mut stream = agent.run("go").stream();
    let mut replies = Vec::new();
    let mut usage = None;
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            RunEvent::ModelReplied { usage, finish_reason, calls, .. } => replies.push((usage, finish_reason, calls)),
            RunEvent::Completed(answer) => usage = Some(answer.usage()),
            _ => {}
        }
    }
    assert_eq!(replies[0], (Usage::new(10, 3), FinishReason::ToolCalls, 1));
    assert_eq!(replies[1], (Usage::new(20, 4), FinishReason::Stop, 0));
    assert_eq!(usage, Some(Usage::new(30, 7)));
    assert_eq!(server.requests()[0].json()["stream_options"], json!({ "include_usage": true }));

    let server = ModelServer::start([Reply::text("done").usage(20, 4)]).await.unwrap();
    let agent = Agent::builder("a").model(model(&server)).build().unwrap();
    assert_eq!(agent.invoke("go").await.unwrap().usage(), Usage::new(20, 4));
    assert_eq!(server.requests()[0].json()["stream"], false, "nobody listens");
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Verdict {
    good: bool,
    why: Option<String>,
}

#[tokio::test]
async fn the_schema_of_a_structured_answer_is_sent() {
    let server = ModelServer::start([Reply::text(r#"{"good": true, "why": null}"#)]).await.unwrap();
    let agent = Agent::builder("a").model(model(&server)).build().unwrap();
    let verdict: Verdict = agent.invoke_as("judge").await.unwrap();
    assert_eq!(verdict, Verdict { good: true, why: None });
    let format = server.requests()[0].json()["response_format"].clone();
    assert_eq!(format["type"], "json_schema");
    assert_eq!(format["json_schema"]["schema"]["properties"]["good"]["type"], "boolean");
}

#[tokio::test]
async fn reasoning_goes_back_while_the_tools_of_its_turn_are_answered() {
    let message = json!({ "content": "", "reasoning_content": "I should look at the clock.", "tool_calls": [
        { "id": "n", "type": "function", "function": { "name": "now", "arguments": "{}" } },
    ] });
    let first = json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }] });
    let server = ModelServer::start([ServerReply::status(200).json(first), Reply::text("done").into()]).await.unwrap();
    let agent = agent(&server).unwrap();
    let mut conversation = agent.conversation();
    conversation.invoke("go").await.unwrap();
    assert_eq!(server.requests()[1].json()["messages"][1]["reasoning_content"], "I should look at the clock.");
    let Message::Assistant(Turn { text, .. }) = &*conversation.messages()[1] else { panic!("no turn") };
    assert_eq!(*text, None, "reasoning is no text");
}
