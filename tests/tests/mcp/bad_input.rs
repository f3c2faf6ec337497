//! MCP servers that lie, stumble and die: a typed error or a documented repair, and receipts that stay whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use protolink::durable::{MemoryStore, Record};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{McpConnect, McpError, McpTools, ToolOutcome};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, simplex};

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

/// What a server answers to the call of this id.
type Fault = fn(&Value) -> Vec<Vec<u8>>;

/// The ways in which the answer to a call does not come.
const FAULTS: [(&str, Fault); 6] = [
    ("it dies", |_| vec![HANG_UP.to_vec()]),
    ("it is silent", |_| Vec::new()),
    ("it answers under another id", |_| vec![reply(&json!(4711), text("lost"))]),
    ("it answers something that is no result", |id| vec![reply(id, json!({ "content": "no list" }))]),
    ("it answers with half of a message", |id| {
        let mut bytes = reply(id, text("half"));
        bytes.truncate(bytes.len() / 2);
        vec![bytes]
    }),
    ("it answers in bytes that are not UTF-8", |id| {
        let mut bytes = reply(id, text("?"));
        let place = bytes.iter().position(|byte| *byte == b'?').unwrap_or_default();
        bytes[place] = 0xff;
        vec![bytes]
    }),
];

fn is_known(error: &Error) -> bool {
    let Error::Tool { source, .. } = error else { return false };
    matches!(
        source.downcast_ref(),
        Some(McpError::Closed { .. } | McpError::TimedOut { .. } | McpError::Unreadable { .. })
    )
}

#[tokio::test]
async fn d3_whatever_a_server_does_in_a_call_the_receipts_are_whole_and_the_call_is_uncertain() {
    for (what, fault) in FAULTS {
        let calls = AtomicUsize::new(0);
        let tools = calling(move |id| match calls.fetch_add(1, Ordering::SeqCst) {
            0 => vec![reply(id, text("done before")), reply(id, text("said twice"))],
            _ => fault(id),
        })
        .await
        .expect("sound");
        receipts_are_whole(what, &tools).await;
    }
}

/// Calls `act`, which works, and again, which does not; then goes on with what a person knows.
async fn receipts_are_whole(what: &str, tools: &McpTools) {
    let store = Arc::new(MemoryStore::new());
    let build = || {
        let model = ScriptedModel::from_fn(|request| match request.messages.len() {
            1 | 2 => Reply::call("act", json!({})),
            _ => Reply::text("done"),
        });
        let builder = Agent::builder("a").model(model).dyn_tools(tools.tools());
        builder.durable(Arc::clone(&store)).build().expect("sound")
    };
    let agent = build();
    let mut conversation = agent.conversation_id("c").await.expect("a conversation");
    let error = conversation.run("go").run_id("r").await.expect_err(what);
    assert!(is_known(&error), "{what}: {error:?}");
    let outcomes: Vec<_> =
        conversation.messages().iter().flat_map(|message| message.calls()).map(|call| call.outcome.clone()).collect();
    assert_eq!(outcomes, [ToolOutcome::Observed(json!("done before").into()), ToolOutcome::Uncertain], "{what}");
    assert_eq!(results(&agent).await, [Some(json!("done before"))], "{what}: what is not known has no receipt");

    let agent = build();
    let Err(Error::Uncertain { action_id, tool, .. }) = agent.resume("r").await else { panic!("{what}: uncertain") };
    assert_eq!(tool, "act");
    agent.reconcile("r", action_id, "it was done").await.expect("uncertain, so it can be said");
    let outcome = agent.resume("r").await.expect("nothing is in the way");
    assert_eq!(outcome.answer().map(Answer::text), Some("done"), "{what}");
    assert_eq!(results(&agent).await, [Some(json!("done before")), Some(json!("it was done"))], "{what}");
}

/// The results that the journal keeps.
async fn results(agent: &Agent) -> Vec<Option<Value>> {
    let journal = agent.journal("r").await.expect("it is stored");
    let receipts = journal.iter().filter_map(|record| match record {
        Record::Receipted { receipt, .. } => Some(receipt.result().cloned()),
        _ => None,
    });
    receipts.collect()
}

#[tokio::test]
async fn d3_a_servers_faults_over_http_are_typed_and_uncertain_too() {
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    let faults = [
        ("it hangs up", String::new()),
        ("it hangs up in the middle", format!("{json}Content-Length: 1000\r\n\r\n{{\"jsonrpc\":")),
        ("it answers no JSON", format!("{json}Content-Length: 4\r\n\r\nnope")),
        ("it answers a page", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nhtml".to_owned()),
        ("it breaks", "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n".to_owned()),
    ];
    for (what, fault) in faults {
        let address = http_liar(fault).await.expect("a port");
        let tools = McpTools::http(address).timeout(Duration::from_secs(2)).await.expect("it lists soundly");
        receipts_are_whole(what, &tools).await;
    }
}

/// A server over HTTP that answers the first call, and every later one in these bytes before it hangs up.
async fn http_liar(fault: String) -> std::io::Result<String> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}/mcp", listener.local_addr()?);
    let calls = Arc::new(AtomicUsize::new(0));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (fault, calls) = (fault.clone(), Arc::clone(&calls));
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                while let Some(request) = next_request(&mut stream).await {
                    let result = match request["method"].as_str().unwrap_or_default() {
                        "initialize" => json!({
                            "protocolVersion": "2025-06-18",
                            "capabilities": { "tools": {} },
                            "serverInfo": { "name": "liar", "version": "0" },
                        }),
                        "tools/list" => json!({ "tools": [tool("act")] }),
                        "tools/call" if calls.fetch_add(1, Ordering::SeqCst) == 0 => text("done before"),
                        "tools/call" => {
                            let _ = stream.get_mut().write_all(fault.as_bytes()).await;
                            return;
                        }
                        _ => Value::Null,
                    };
                    let answer = if result.is_null() {
                        "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_owned()
                    } else {
                        let body = String::from_utf8(reply(&request["id"], result)).unwrap_or_default();
                        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:";
                        format!("{head} {}\r\n\r\n{body}", body.len())
                    };
                    let _ = stream.get_mut().write_all(answer.as_bytes()).await;
                }
            });
        }
    });
    Ok(address)
}

/// The next request of a connection: its body, or `null` where it has none.
async fn next_request(stream: &mut BufReader<tokio::net::TcpStream>) -> Option<Value> {
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(serde_json::from_slice(&body).unwrap_or_default())
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

#[tokio::test]
async fn sound_and_other_bytes_are_named_by_their_kind() {
    let blob = |uri: &str| json!({ "type": "resource", "resource": { "uri": uri, "blob": "aGk=" } });
    let content = json!([
        { "type": "audio", "mimeType": "audio/ogg", "data": "aGk=" },
        blob("shelf://one"),
        { "type": "resource_link", "uri": "shelf://two", "name": "two" },
    ]);
    let given = move |content: &Value| {
        let result = json!({ "content": content });
        calling(move |id| vec![reply(id, result.clone())])
    };
    let described = given(&content).on_media(|media| Ok(json!(format!("{} {:?}", media.kind, media.media_type))));
    let (answer, model) = act(&described.await.expect("sound")).await;
    assert_eq!(answer.expect("an answer").text(), "done");
    let expected = json!([
        "audio \"audio/ogg\"",
        "resource \"\"",
        { "type": "resource_link", "uri": "shelf://two", "name": "two" },
    ]);
    assert_eq!(outcomes(&model)[0], ToolOutcome::Observed(expected.into()));

    let (_, model) = act(&given(&content).await.expect("sound")).await;
    let ToolOutcome::Failed(told) = &outcomes(&model)[0] else { panic!("not refused") };
    assert!(told.contains("audio/ogg") && !told.contains("aGk="), "{told}");
}

#[tokio::test]
async fn a_failure_is_told_in_the_servers_words_or_as_one_without_any() {
    for (result, words) in [
        (json!({ "isError": true, "content": [] }), "the tool failed, and does not say why"),
        (json!({ "isError": true, "content": [], "structuredContent": { "code": 7 } }), r#"{"code":7}"#),
        (
            json!({ "isError": true, "content": [{ "type": "text", "text": "no" }, { "type": "text", "text": "shelf" }] }),
            "no\nshelf",
        ),
    ] {
        let tools = calling(move |id| vec![reply(id, result.clone())]).await.expect("sound");
        let (_, model) = act(&tools).await;
        assert_eq!(outcomes(&model)[0], ToolOutcome::Failed(words.to_owned()));
    }
}
