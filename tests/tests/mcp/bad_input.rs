//! MCP servers that lie, stumble and die: a typed error or a documented repair, and receipts that stay whole.

use std::sync::Arc;
use std::time::Duration;

use protolink::durable::MemoryStore;
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{McpConnect, McpError, McpTools, ToolOutcome};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, simplex};

/// A server that answers each request line by line as it is told.
fn liar(answer: impl Fn(&str, &Value) -> Vec<Vec<u8>> + Send + 'static) -> McpConnect {
    let (client_reads, mut server_writes) = simplex(1 << 24);
    let (server_reads, client_writes) = simplex(1 << 20);
    tokio::spawn(async move {
        let mut lines = BufReader::new(server_reads).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let request: Value = serde_json::from_str(&line).expect("the client writes JSON");
            let method = request["method"].as_str().unwrap_or_default().to_owned();
            let answers = match &*method {
                "initialize" => vec![reply(
                    &request["id"],
                    json!({
                        "protocolVersion": "2025-06-18",
                        "capabilities": { "tools": { "listChanged": true } },
                        "serverInfo": { "name": "liar", "version": "0" },
                    }),
                )],
                _ => answer(&method, &request),
            };
            for mut bytes in answers {
                if bytes == HANG_UP {
                    let _ = server_writes.shutdown().await;
                    return;
                }
                bytes.push(b'\n');
                if server_writes.write_all(&bytes).await.is_err() {
                    return;
                }
            }
        }
    });
    McpTools::connect(client_reads, client_writes).timeout(Duration::from_millis(500))
}

const HANG_UP: &[u8] = b"\0hang up";

fn reply(id: &Value, result: Value) -> Vec<u8> {
    let mut message = json!({ "jsonrpc": "2.0", "id": id });
    message["result"] = result;
    message.to_string().into_bytes()
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "Does it.", "inputSchema": { "type": "object" } })
}

/// A server that lists these tools.
fn listing(tools: Value) -> McpConnect {
    liar(move |method, request| match method {
        "tools/list" => vec![reply(&request["id"], json!({ "tools": tools }))],
        _ => Vec::new(),
    })
}

/// A server with the tool `act`, whose calls are answered so.
fn calling(answer: impl Fn(&Value) -> Vec<Vec<u8>> + Send + 'static) -> McpConnect {
    liar(move |method, request| match method {
        "tools/list" => vec![reply(&request["id"], json!({ "tools": [tool("act")] }))],
        "tools/call" => answer(&request["id"]),
        _ => Vec::new(),
    })
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// Calls `act` twice in one run, the second time with what is left of the server.
async fn act(tools: &McpTools) -> (Result<Answer, Error>, ScriptedModel) {
    let model = ScriptedModel::new([Reply::call("act", json!({})), Reply::call("act", json!({})), Reply::text("done")]);
    let agent = Agent::builder("a").model(model.clone()).dyn_tools(tools.tools()).build().expect("the agent is sound");
    (agent.invoke("go").await, model)
}

fn outcomes(model: &ScriptedModel) -> Vec<ToolOutcome> {
    let requests = model.requests();
    let messages = &requests.last().expect("a request").messages;
    messages.iter().flat_map(|message| message.calls()).map(|exchange| exchange.outcome.clone()).collect()
}

async fn refused(connect: McpConnect) -> McpError {
    connect.await.expect_err("the list is not to be taken")
}

#[tokio::test]
async fn two_tools_of_one_name_are_refused_and_a_filter_helps() {
    let error = refused(listing(json!([tool("twin"), tool("twin")]))).await;
    assert!(matches!(&error, McpError::DuplicateTool { tool, .. } if tool == "twin"), "{error:?}");
    // Two names that become one by mending are two of one name as well.
    let error = refused(listing(json!([tool("a.b"), tool("a_b")]))).await;
    assert!(matches!(&error, McpError::DuplicateTool { tool, .. } if tool == "a_b"), "{error:?}");
    let filtered = listing(json!([tool("a.b"), tool("a_b")])).filter(|name| name != "a.b").await.expect("one is left");
    assert_eq!(filtered.tools().count(), 1);
}

#[tokio::test]
async fn a_name_that_providers_refuse_is_mended_or_refused() {
    let mended = listing(json!([tool("ns/do it.now"), tool("löschen")])).await.expect("mended");
    let names: Vec<String> = mended.tools().map(|tool| tool.spec().name().to_owned()).collect();
    assert_eq!(names, ["ns_do_it_now", "l_schen"]);
    for name in ["", &"x".repeat(65)] {
        let error = refused(listing(json!([tool(name)]))).await;
        assert!(matches!(error, McpError::ToolName { .. }), "{error:?}");
    }
    let error = refused(listing(json!([tool(&"x".repeat(60))])).prefix("long_")).await;
    assert!(matches!(error, McpError::ToolName { .. }), "a prefix counts too: {error:?}");
}

#[tokio::test]
async fn a_schema_that_is_no_object_is_refused_and_names_its_tool() {
    for schema in [json!("string"), json!(true), json!([1]), json!(null), json!({ "type": "array" })] {
        let bad = json!({ "name": "odd", "inputSchema": schema });
        let error = refused(listing(json!([tool("even"), bad]))).await;
        assert!(matches!(&error, McpError::ToolSchema { tool, .. } if tool == "odd"), "{schema}: {error:?}");
    }
    let error = refused(listing(json!([{ "name": "bare" }]))).await;
    assert!(matches!(&error, McpError::ToolSchema { tool, .. } if tool == "bare"), "{error:?}");
    let mended = listing(json!([{ "name": "untyped", "inputSchema": {} }])).await.expect("mended");
    assert_eq!(mended.tools().next().expect("one").spec().schema()["type"], "object");
}

#[tokio::test]
async fn a_description_of_a_megabyte_is_refused() {
    let long = json!({ "name": "talker", "description": "x".repeat(1 << 20), "inputSchema": { "type": "object" } });
    let error = refused(listing(json!([long]))).await;
    let McpError::TooLarge { what, size, .. } = &error else { panic!("{error:?}") };
    assert!(what.contains("talker") && *size == 1 << 20, "{what}");
    assert!(error.to_string().len() < 300, "the error does not repeat it");
}

#[tokio::test]
async fn deep_schemas_are_refused_and_recursive_ones_are_data() {
    let deep = (0..105).fold(json!({}), |inner, _| json!({ "properties": inner }));
    let error = refused(listing(json!([{ "name": "deep", "inputSchema": deep }]))).await;
    assert!(matches!(&error, McpError::ToolSchema { tool, .. } if tool == "deep"), "{error:?}");

    // Deeper than the parser goes: the line is no answer, and the list never comes.
    let bottomless = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let error = refused(liar(move |method, request| match method {
        "tools/list" => {
            vec![
                format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":{bottomless}}}}}"#, request["id"]).into_bytes(),
            ]
        }
        _ => Vec::new(),
    }))
    .await;
    assert!(matches!(error, McpError::TimedOut { .. }), "{error:?}");

    let recursive = json!({
        "type": "object",
        "properties": { "tree": { "$ref": "#/$defs/node" } },
        "$defs": { "node": { "properties": { "child": { "$ref": "#/$defs/node" } } } },
    });
    let tools = listing(json!([{ "name": "tree", "inputSchema": recursive }])).await.expect("taken as it is");
    assert_eq!(*tools.tools().next().expect("one").spec().schema(), recursive);
}

#[tokio::test]
async fn a_list_without_end_is_refused() {
    let endless = liar(|method, request| match method {
        "tools/list" => vec![reply(&request["id"], json!({ "tools": [], "nextCursor": "again" }))],
        _ => Vec::new(),
    });
    let error = refused(endless).await;
    assert!(matches!(error, McpError::TooLarge { .. }), "{error:?}");
    let crowd: Vec<Value> = (0..1001).map(|n| tool(&format!("t{n}"))).collect();
    let error = refused(listing(json!(crowd))).await;
    assert!(matches!(error, McpError::TooLarge { size: 1001, .. }), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_comes_twice_answers_once() {
    let tools = calling(|id| vec![reply(id, text("first")), reply(id, text("second"))]).await.expect("sound");
    let (answer, model) = act(&tools).await;
    assert_eq!(answer.expect("an answer").text(), "done");
    let first = ToolOutcome::Observed(json!("first").into());
    assert_eq!(outcomes(&model), [first.clone(), first]);
}

#[tokio::test]
async fn an_answer_under_another_id_answers_nothing() {
    let tools = calling(|_| vec![reply(&json!(4711), text("lost")), reply(&json!("x"), text("lost"))]).await;
    let (answer, model) = act(&tools.expect("sound")).await;
    let Err(Error::Tool { source, .. }) = answer else { panic!("{answer:?}") };
    assert!(matches!(source.downcast_ref(), Some(McpError::TimedOut { .. })), "{source:?}");
    assert_eq!(model.request_count(), 1, "the model is told nothing that nobody knows");
}

#[tokio::test]
async fn a_late_answer_is_not_taken_for_the_answer_to_another_call() {
    // The first call is not answered in time; its answer comes with that of the second.
    let late = Arc::new(std::sync::Mutex::new(None::<Value>));
    let tools = calling(move |id| {
        let first = late.lock().expect("whole").replace(id.clone());
        first.map_or_else(Vec::new, |first| vec![reply(&first, text("late")), reply(id, text("in time"))])
    })
    .await
    .expect("sound");
    let agent = |replies: Vec<Reply>| {
        let model = ScriptedModel::new(replies);
        (model.clone(), Agent::builder("a").model(model).dyn_tools(tools.tools()).build().expect("the agent is sound"))
    };
    let (_, first) = agent(vec![Reply::call("act", json!({}))]);
    assert!(matches!(first.invoke("go").await, Err(Error::Tool { .. })));
    let (model, second) = agent(vec![Reply::call("act", json!({})), Reply::text("done")]);
    second.invoke("go").await.expect("an answer");
    assert_eq!(outcomes(&model), [ToolOutcome::Observed(json!("in time").into())]);
}

#[tokio::test]
async fn d3_a_connection_that_ends_in_a_call_keeps_the_receipts() {
    let calls = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let tools = calling(move |id| match calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        0 => vec![reply(id, text("done before"))],
        _ => vec![HANG_UP.to_vec()],
    })
    .await
    .expect("sound");
    let store = Arc::new(MemoryStore::new());
    let model = ScriptedModel::new([Reply::call("act", json!({})), Reply::call("act", json!({}))]);
    let agent =
        Agent::builder("a").model(model).dyn_tools(tools.tools()).durable(Arc::clone(&store)).build().expect("sound");
    let mut conversation = agent.conversation_id("c").await.expect("a conversation");
    let error = conversation.run("go").run_id("r").await.expect_err("the connection ended");
    let Error::Tool { source, .. } = &error else { panic!("{error:?}") };
    assert!(matches!(source.downcast_ref(), Some(McpError::Closed { .. })), "{source:?}");
    let outcomes: Vec<_> =
        conversation.messages().iter().flat_map(|message| message.calls()).map(|call| call.outcome.clone()).collect();
    assert_eq!(outcomes, [ToolOutcome::Observed(json!("done before").into()), ToolOutcome::Uncertain]);
    assert!(matches!(agent.resume("r").await, Err(Error::Uncertain { tool, .. }) if tool == "act"));
}

#[tokio::test]
async fn what_is_no_result_is_a_typed_error_and_uncertain() {
    for result in [
        json!({ "tools": [] }),
        json!({ "content": "no list" }),
        json!("text"),
        json!({ "content": [{ "type": "smell" }] }),
    ] {
        let shown = result.to_string();
        let tools = calling(move |id| vec![reply(id, result.clone())]).await.expect("sound");
        let (answer, _) = act(&tools).await;
        let Err(Error::Tool { source, .. }) = answer else { panic!("{shown}: {answer:?}") };
        let known = source.downcast_ref::<McpError>().expect("an McpError");
        assert!(matches!(known, McpError::Unreadable { .. } | McpError::TimedOut { .. }), "{shown}: {known:?}");
    }
}

#[tokio::test]
async fn invalid_utf8_and_noise_are_dropped() {
    // Noise before the answer costs nothing.
    let tools = calling(|id| {
        vec![b"debug: starting".to_vec(), b"\xff\xfe\x00".to_vec(), b"{\"jsonrpc\":".to_vec(), reply(id, text("whole"))]
    })
    .await
    .expect("sound");
    let (answer, model) = act(&tools).await;
    assert_eq!(answer.expect("an answer").text(), "done");
    assert_eq!(outcomes(&model)[0], ToolOutcome::Observed(json!("whole").into()));

    // An answer that is not UTF-8 is no answer.
    let tools = calling(|id| {
        let mut bytes = reply(id, text("?"));
        let place = bytes.iter().position(|byte| *byte == b'?').expect("it is there");
        bytes[place] = 0xff;
        vec![bytes]
    })
    .await
    .expect("sound");
    let (answer, _) = act(&tools).await;
    let Err(Error::Tool { source, .. }) = answer else { panic!("{answer:?}") };
    assert!(matches!(source.downcast_ref(), Some(McpError::TimedOut { .. })), "{source:?}");
}

#[tokio::test]
async fn a_servers_failure_is_cut_and_told() {
    let tools = calling(|id| {
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": "x".repeat(1 << 20) } });
        vec![error.to_string().into_bytes()]
    })
    .await
    .expect("sound");
    let (answer, model) = act(&tools).await;
    assert_eq!(answer.expect("an answer").text(), "done");
    let ToolOutcome::Failed(told) = &outcomes(&model)[0] else { panic!("not a failure") };
    assert!(told.len() < 3000, "{} bytes", told.len());
}

#[tokio::test]
async fn a_server_that_says_nothing_is_a_typed_error() {
    let (reader, _keep_reader_open) = simplex(1024);
    let (_keep_writer_open, writer) = simplex(1024);
    let mute = McpTools::connect(reader, writer).timeout(Duration::from_millis(100)).await;
    assert!(matches!(mute, Err(McpError::TimedOut { request, .. }) if request == "initialize"));
}
