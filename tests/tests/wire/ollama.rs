//! Ollama's own format over loopback HTTP.

use protolink::model::{GenaiModel, Usage};
use protolink::prelude::*;
use protolink::testing::server::{ModelServer, ServerReply};
use protolink::testing::{Reply, retry_at_once};
use protolink::tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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
    GenaiModel::new("qwen3").provider("ollama").base_url(server.url())
}

fn agent(server: &ModelServer) -> Agent {
    Agent::builder("a")
        .instructions("Be brief.")
        .model(model(server).option("temperature", 0.25).option("seed", 7))
        .retry(retry_at_once())
        .tools(tools![search, delete_document])
        .before_model("select", |request: &mut ModelRequest<'_>| {
            request.tools().remove::<delete_document>();
        })
        .build()
        .unwrap()
}

fn lines(lines: &[Value]) -> ServerReply {
    let text: String = lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
    ServerReply::stream([text]).header("content-type", "application/x-ndjson")
}

#[tokio::test]
async fn m4_t6_what_is_sent_is_the_filtered_roster_and_every_result_in_order() {
    let calls = Reply::calls([("search", json!({ "query": "a" })), ("search", json!({ "query": "b" }))]);
    for listened_to in [false, true] {
        let server = ModelServer::start([calls.clone().usage(3, 1), Reply::text("done").usage(9, 2)]).await.unwrap();
        let agent = agent(&server);
        if listened_to {
            assert_eq!(streamed(&agent, "go").await.1.unwrap(), "done");
        } else {
            let answer = agent.invoke("go").await.unwrap();
            assert_eq!((answer.text(), answer.usage()), ("done", Usage::new(12, 3)));
        }
        let requests = server.requests();
        assert_eq!(requests[0].path, "/api/chat");
        assert_eq!(requests[0].tool_names(), ["search"]);
        let body = requests[1].json();
        assert_eq!(body["options"], json!({ "temperature": 0.25, "seed": 7 }));
        assert_eq!(
            body["messages"],
            json!([
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "go" },
                { "role": "assistant", "tool_calls": [
                    { "function": { "name": "search", "arguments": { "query": "a" } } },
                    { "function": { "name": "search", "arguments": { "query": "b" } } },
                ] },
                { "role": "tool", "content": "hits for a" },
                { "role": "tool", "content": "hits for b" },
            ])
        );
    }
}

#[tokio::test]
async fn f5_a_stream_that_broke_off_is_no_answer() {
    let begun = json!({ "message": { "role": "assistant", "content": "do" }, "done": false });
    let server = ModelServer::start([lines(&[begun]), Reply::text("done").into()]).await.unwrap();
    let (shown, answer) = streamed(&agent(&server), "go").await;
    assert_eq!(shown, "do");
    let Err(Error::Model { source, attempts: 1, .. }) = answer else { panic!("{answer:?}") };
    assert!(source.is_transient(), "{source:?}");
}

#[tokio::test]
async fn f5_a_length_stop_is_no_answer() {
    for listened_to in [false, true] {
        let server = ModelServer::start([Reply::truncated()]).await.unwrap();
        let agent = agent(&server);
        let error = if listened_to {
            streamed(&agent, "go").await.1.unwrap_err()
        } else {
            agent.invoke("go").await.unwrap_err()
        };
        assert!(matches!(error, Error::Truncated { step: 1, .. }), "{error:?}");
    }
}

#[tokio::test]
async fn thinking_is_not_shown() {
    let server = ModelServer::start([lines(&[
        json!({ "message": { "role": "assistant", "content": "", "thinking": "Hm. " } }),
        json!({ "message": { "role": "assistant", "thinking": "Aha.", "content": "do" } }),
        json!({ "message": { "role": "assistant", "content": "ne" }, "done": true, "done_reason": "stop" }),
    ])])
    .await
    .unwrap();
    let (shown, answer) = streamed(&agent(&server), "go").await;
    assert_eq!((shown.as_str(), answer.unwrap().as_str()), ("done", "done"));
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Verdict {
    good: bool,
}

#[tokio::test]
async fn the_schema_of_an_answer_is_told_in_the_system_message() {
    let server = ModelServer::start([Reply::text(r#"{"good": true}"#)]).await.unwrap();
    let agent = Agent::builder("a").instructions("Judge.").model(model(&server)).build().unwrap();
    assert_eq!(agent.invoke_as::<Verdict>("go").await.unwrap(), Verdict { good: true });
    let body = server.requests()[0].json();
    assert_eq!(body["format"], "json");
    let system = body["messages"][0]["content"].as_str().unwrap_or_default();
    assert!(system.starts_with("Judge.\n\nGive your answer as JSON of this schema"), "{system}");
    assert!(system.contains(r#""good":{"type":"boolean"}"#), "{system}");
}

#[tokio::test]
async fn an_option_without_a_place_is_refused_and_not_dropped() {
    let server = ModelServer::start([Reply::text("done")]).await.unwrap();
    let agent = Agent::builder("a").model(model(&server).option("mirostat", 2)).build().unwrap();
    let error = agent.invoke("go").await.unwrap_err();
    let Error::Model { source, .. } = error else { panic!("{error:?}") };
    assert!(source.to_string().ends_with("the provider `ollama` has no place for the option `mirostat`"), "{source}");
    assert!(server.requests().is_empty());
}
