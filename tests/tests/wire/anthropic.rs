//! Anthropic's format over loopback HTTP.

use protolink::model::{GenaiModel, Usage};
use protolink::prelude::*;
use protolink::testing::server::{ModelServer, ServerReply};
use protolink::testing::{Reply, retry_at_once};
use protolink::tool;
use serde_json::{Value, json};

use crate::streamed;

/// Search the catalogue.
#[tool]
fn search(query: String) -> String {
    ["hits for ".to_owned(), query].concat()
}

/// Delete a document for good.
#[tool]
fn delete_document(id: String) -> String {
    id
}

fn model(server: &ModelServer) -> GenaiModel {
    GenaiModel::new("claude-sonnet-4-5").provider("anthropic").base_url(server.base_url()).api_key("a-key")
}

fn agent(server: &ModelServer) -> Agent {
    Agent::builder("a")
        .instructions("Be brief.")
        .model(model(server))
        .retry(retry_at_once())
        .tools(tools![search, delete_document])
        .before_model("select", |request: &mut ModelRequest<'_>| {
            request.tools().remove::<delete_document>();
        })
        .build()
        .unwrap()
}

fn frame(event: &str, mut data: Value) -> String {
    data["type"] = event.into();
    format!("event: {event}\ndata: {data}\n\n")
}

fn block(index: usize, opening: &Value, deltas: &[Value]) -> String {
    let mut text = frame("content_block_start", json!({ "index": index, "content_block": opening }));
    for delta in deltas {
        text += &frame("content_block_delta", json!({ "index": index, "delta": delta }));
    }
    text + &frame("content_block_stop", json!({ "index": index }))
}

fn opening() -> String {
    frame("message_start", json!({ "message": { "usage": { "input_tokens": 11, "output_tokens": 1 } } }))
}

fn ending(reason: &str) -> String {
    let delta = json!({ "delta": { "stop_reason": reason }, "usage": { "output_tokens": 6 } });
    frame("message_delta", delta) + &frame("message_stop", json!({}))
}

#[tokio::test]
async fn m4_t6_what_is_sent_is_the_filtered_roster_and_one_message_with_every_result() {
    let calls = Reply::calls([("search", json!({ "query": "a" })), ("search", json!({ "query": "b" }))]);
    for listened_to in [false, true] {
        let server = ModelServer::start([calls.clone().saying("Let me see."), Reply::text("done")]).await.unwrap();
        let agent = agent(&server);
        if listened_to {
            assert_eq!(streamed(&agent, "go").await.1.unwrap(), "done");
        } else {
            assert_eq!(agent.invoke("go").await.unwrap().text(), "done");
        }
        let requests = server.requests();
        assert_eq!(requests[0].path, "/v1/messages");
        assert_eq!(requests[0].header("x-api-key"), Some("a-key"));
        assert_eq!(requests[0].tool_names(), ["search"]);
        let body = requests[1].json();
        assert_eq!(body["system"], "Be brief.");
        assert_eq!(body["tools"][0]["input_schema"]["required"], json!(["query"]));
        assert_eq!(
            body["messages"],
            json!([
                { "role": "user", "content": "go" },
                { "role": "assistant", "content": [
                    { "type": "text", "text": "Let me see." },
                    { "type": "tool_use", "id": "call_1", "name": "search", "input": { "query": "a" } },
                    { "type": "tool_use", "id": "call_2", "name": "search", "input": { "query": "b" } },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "call_1", "content": "hits for a" },
                    { "type": "tool_result", "tool_use_id": "call_2", "content": "hits for b" },
                ] },
            ])
        );
    }
}

#[tokio::test]
async fn signed_thinking_goes_back_unread_and_is_never_shown() {
    let thinking = json!({ "type": "thinking", "thinking": "" });
    let redacted = json!({ "type": "redacted_thinking", "data": "c2VjcmV0" });
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "search", "input": {} });
    let pieces = [
        opening(),
        frame("ping", json!({})),
        block(
            0,
            &thinking,
            &[
                json!({ "type": "thinking_delta", "thinking": "I sho" }),
                json!({ "type": "thinking_delta", "thinking": "uld look." }),
                json!({ "type": "signature_delta", "signature": "c2lnbmVk" }),
            ],
        ),
        block(1, &redacted, &[]),
        block(
            2,
            &call,
            &[
                json!({ "type": "input_json_delta", "partial_json": "{\"que" }),
                json!({ "type": "input_json_delta", "partial_json": "ry\": \"a\"}" }),
            ],
        ),
        ending("tool_use"),
    ];
    let server = ModelServer::start([ServerReply::stream(pieces), Reply::text("done").into()]).await.unwrap();
    let (shown, answer) = streamed(&agent(&server), "go").await;
    assert_eq!((shown.as_str(), answer.unwrap().as_str()), ("done", "done"));
    assert_eq!(
        server.requests()[1].json()["messages"][1]["content"],
        json!([
            { "type": "thinking", "thinking": "I should look.", "signature": "c2lnbmVk" },
            { "type": "redacted_thinking", "data": "c2VjcmV0" },
            { "type": "tool_use", "id": "toolu_1", "name": "search", "input": { "query": "a" } },
        ])
    );
}

#[tokio::test]
async fn signed_thinking_of_a_whole_reply_goes_back_unread() {
    let content = json!([
        { "type": "thinking", "thinking": "I should look.", "signature": "c2lnbmVk" },
        { "type": "tool_use", "id": "toolu_1", "name": "search", "input": { "query": "a" } },
    ]);
    let reply =
        json!({ "content": content, "stop_reason": "tool_use", "usage": { "input_tokens": 4, "output_tokens": 5 } });
    let server = ModelServer::start([ServerReply::status(200).json(reply), Reply::text("done").into()]).await.unwrap();
    agent(&server).invoke("go").await.unwrap();
    assert_eq!(server.requests()[1].json()["messages"][1]["content"], content);
}

#[tokio::test]
async fn usage_is_counted() {
    let text = block(0, &json!({ "type": "text", "text": "" }), &[json!({ "type": "text_delta", "text": "done" })]);
    let server = ModelServer::start([ServerReply::stream([opening(), text, ending("end_turn")])]).await.unwrap();
    let agent = agent(&server);
    let mut stream = agent.run("go").stream();
    let mut usage = None;
    while let Some(event) = stream.next().await {
        if let RunEvent::Completed(answer) = event.unwrap() {
            usage = Some(answer.usage());
        }
    }
    assert_eq!(usage, Some(Usage::new(11, 6)));
}

#[tokio::test]
async fn f5_a_call_that_the_limit_cut_is_not_executed() {
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "search", "input": {} });
    let cut = frame("content_block_start", json!({ "index": 0, "content_block": call }))
        + &frame(
            "content_block_delta",
            json!({ "index": 0, "delta": { "type": "input_json_delta", "partial_json": "{\"query\": \"a" } }),
        );
    let server = ModelServer::start([ServerReply::stream([opening(), cut, ending("max_tokens")])]).await.unwrap();
    let (_, answer) = streamed(&agent(&server), "go").await;
    assert!(matches!(answer, Err(Error::Truncated { step: 1, .. })), "{answer:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_error_in_the_stream_is_tried_again_only_while_nothing_was_shown() {
    let overloaded = frame("error", json!({ "error": { "type": "overloaded_error", "message": "busy" } }));
    let server = ModelServer::start([ServerReply::stream([opening(), overloaded.clone()]), Reply::text("done").into()])
        .await
        .unwrap();
    assert_eq!(streamed(&agent(&server), "go").await.1.unwrap(), "done");

    let start = json!({ "index": 0, "content_block": { "type": "text", "text": "" } });
    let delta = json!({ "index": 0, "delta": { "type": "text_delta", "text": "do" } });
    let begun = [opening(), frame("content_block_start", start), frame("content_block_delta", delta), overloaded];
    let server = ModelServer::start([ServerReply::stream(begun), Reply::text("done").into()]).await.unwrap();
    let (shown, answer) = streamed(&agent(&server), "go").await;
    assert_eq!(shown, "do");
    let Err(Error::Model { source, attempts: 1, .. }) = answer else { panic!("{answer:?}") };
    assert!(source.is_transient());
    assert!(source.to_string().ends_with("the server reported an error (overloaded_error)"), "{source}");
    assert_eq!(server.requests().len(), 1);
}
