//! What servers and connections do wrong, and that none of it leaks what was said.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use protolink::model::{GenaiModel, ModelError};
use protolink::prelude::*;
use protolink::testing::server::{ModelServer, ServerReply};
use protolink::testing::{Reply, retry_at_once};
use serde_json::{Value, json};

fn model(server: &ModelServer) -> GenaiModel {
    GenaiModel::new("any-model").base_url(server.base_url())
}

fn agent(server: &ModelServer) -> Agent {
    Agent::builder("a").model(model(server)).retry(retry_at_once()).build().unwrap()
}

fn delta(text: &str) -> String {
    let choice = json!({ "index": 0, "delta": { "content": text }, "finish_reason": null });
    format!("data: {}\n\n", json!({ "choices": [choice] }))
}

/// Everything that a run tells: the events, and how it ended.
async fn told(agent: &Agent) -> (Vec<RunEvent>, Option<Error>) {
    let mut events = Vec::new();
    let mut stream = agent.run("go").stream();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => return (events, Some(error)),
        }
    }
    (events, None)
}

fn shown(events: &[RunEvent]) -> String {
    let text = |event: &RunEvent| match event {
        RunEvent::TextDelta { text, .. } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

fn model_error(error: Error) -> (ModelError, u32) {
    match error {
        Error::Model { source, attempts, .. } => (source, attempts),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn m6_every_attempt_of_a_step_sends_the_very_same_bytes() {
    let busy = || ServerReply::status(500);
    let server = ModelServer::start([busy(), ServerReply::status(529), Reply::text("done").into()]).await.unwrap();
    assert_eq!(agent(&server).invoke("go").await.unwrap().text(), "done");
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].body, requests[1].body);
    assert_eq!(requests[0].body, requests[2].body);
}

#[tokio::test]
async fn retry_after_is_waited_in_seconds_and_as_a_date() {
    let at = |seconds: u64| httpdate(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds));
    let by_seconds = ServerReply::status(429).header("retry-after", "1");
    let by_date = ServerReply::status(429).header("date", at(0)).header("retry-after", at(1));
    let by_milliseconds = ServerReply::status(503).header("retry-after-ms", "1000");
    for reply in [by_seconds, by_date, by_milliseconds] {
        let server = ModelServer::start([reply, Reply::text("done").into()]).await.unwrap();
        let agent = Agent::builder("a").model(model(&server)).build().unwrap();
        let started = Instant::now();
        let (events, error) = told(&agent).await;
        assert!(error.is_none(), "{error:?}");
        assert!(started.elapsed() >= Duration::from_secs(1));
        let waits: Vec<_> = events.iter().filter(|event| matches!(event, RunEvent::ModelRetried { .. })).collect();
        assert_eq!(waits, [&RunEvent::ModelRetried { step: 1, attempt: 1, wait: Duration::from_secs(1) }]);
    }
}

/// The preferred format of dates in HTTP.
fn httpdate(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() - 1_700_000_000;
    // 1,700,000,000 seconds after the epoch it was 22:13:20 on a Tuesday.
    format!("Tue, 14 Nov 2023 22:13:{} GMT", 20 + seconds)
}

#[tokio::test]
async fn what_asking_again_does_not_help_is_not_asked_again() {
    let cases = [
        (ServerReply::status(401), "HTTP status 401; is the key right?"),
        (
            ServerReply::status(404).json(json!({ "error": { "code": "model_not_found" } })),
            "HTTP status 404 (model_not_found); are the model's name and the base URL right?",
        ),
        (
            ServerReply::status(429).json(json!({ "error": { "type": "insufficient_quota" } })),
            "HTTP status 429 (insufficient_quota)",
        ),
        (ServerReply::status(500).header("x-should-retry", "false"), "HTTP status 500"),
        (
            ServerReply::status(200).header("content-type", "text/html").body("<html>"),
            "the server replied with something that is not JSON; is the base URL right?",
        ),
        (
            ServerReply::status(200).json(json!({ "error": { "type": "invalid_request_error" } })),
            "the server reported an error (invalid_request_error)",
        ),
    ];
    for (reply, message) in cases {
        let server = ModelServer::start([reply, Reply::text("done").into()]).await.unwrap();
        let (error, attempts) = model_error(agent(&server).invoke("go").await.unwrap_err());
        assert_eq!(attempts, 1);
        assert_eq!(error.to_string(), format!("the model refused the request: {message}"));
    }
    // The stream has its own road for the status.
    let server = ModelServer::start([ServerReply::status(401), Reply::text("done").into()]).await.unwrap();
    let (error, attempts) = model_error(told(&agent(&server)).await.1.unwrap());
    assert_eq!((attempts, error.to_string().ends_with("HTTP status 401; is the key right?")), (1, true));
}

#[tokio::test]
async fn f5_a_body_cut_in_the_middle_is_no_answer_and_is_asked_for_again() {
    let whole = json!({ "choices": [{ "message": { "content": "done" }, "finish_reason": "stop" }] }).to_string();
    let half = || whole[..whole.len() / 2].to_owned();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    let cuts = [
        ServerReply::status(200).header("content-type", "application/json").body(half()).cut(),
        // Without a length, nothing but the JSON itself shows that it is cut.
        ServerReply::raw(head.to_owned() + &half()),
        ServerReply::raw("HTTP/1.1 200 OK\r\ncontent-le"),
        ServerReply::raw(""),
    ];
    for cut in cuts {
        let server = ModelServer::start([cut.clone(), Reply::text("done").into()]).await.unwrap();
        assert_eq!(agent(&server).invoke("go").await.unwrap().text(), "done", "{cut:?}");
        assert_eq!(server.requests().len(), 2);
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let piece = delta("");
    let streams = [
        ServerReply::stream([piece.clone()]).cut(),
        ServerReply::stream([piece.clone()]),
        ServerReply::raw(head.to_owned() + &piece[..piece.len() / 2]),
        ServerReply::raw(head.to_owned() + &piece + "data: [DONE]\n\n"),
        ServerReply::raw([head.as_bytes(), b"data: {\"choices\": [{\"delta\": {\"content\": \"\xf0\x9f"].concat()),
    ];
    for cut in streams {
        let server = ModelServer::start([cut.clone(), Reply::text("done").into()]).await.unwrap();
        let (events, error) = told(&agent(&server)).await;
        assert!(error.is_none(), "{cut:?}: {error:?}");
        assert_eq!(shown(&events), "done");
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_stream_that_dies_after_text_was_shown_is_not_asked_for_again() {
    let begun = [delta("do"), delta("n")];
    for reply in [ServerReply::stream(begun.clone()).cut(), ServerReply::stream(begun.clone())] {
        let server = ModelServer::start([reply, Reply::text("done").into()]).await.unwrap();
        let (events, error) = told(&agent(&server)).await;
        assert_eq!(shown(&events), "don");
        assert!(events.contains(&RunEvent::Retracted { step: 1 }), "what was shown is taken back: {events:?}");
        let (error, attempts) = model_error(error.unwrap());
        assert!(error.is_transient(), "another run may succeed: {error:?}");
        assert_eq!(attempts, 1);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_refused_connection_is_transient() {
    let server = ModelServer::start([Reply::text("done")]).await.unwrap();
    let gone = agent(&server);
    drop(server);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let (error, attempts) = model_error(gone.invoke("go").await.unwrap_err());
    assert_eq!(error.to_string(), "the model is not available for now: the connection was refused");
    assert_eq!(attempts, 4, "as often as the agent allows");
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_and_asked_again() {
    let hung = [
        ServerReply::hang(),
        ServerReply::status(200).header("content-type", "application/json").body("{").then_hang(),
    ];
    for reply in hung {
        let server = ModelServer::start([reply.clone(), Reply::text("done").into()]).await.unwrap();
        let model = model(&server).timeout(Duration::from_millis(150));
        let agent = Agent::builder("a").model(model).retry(retry_at_once()).build().unwrap();
        assert_eq!(agent.invoke("go").await.unwrap().text(), "done", "{reply:?}");
    }
    for reply in [ServerReply::hang(), ServerReply::stream([": thinking\n\n"]).then_hang()] {
        let server = ModelServer::start([reply.clone(), Reply::text("done").into()]).await.unwrap();
        let model = model(&server).timeout(Duration::from_millis(150));
        let agent = Agent::builder("a").model(model).retry(retry_at_once()).build().unwrap();
        let (events, error) = told(&agent).await;
        assert!(error.is_none(), "{reply:?}: {error:?}");
        assert_eq!(shown(&events), "done");
    }
    let server = ModelServer::start([ServerReply::stream([delta("do")]).then_hang()]).await.unwrap();
    let model = model(&server).timeout(Duration::from_millis(150));
    let agent = Agent::builder("a").model(model).retry(retry_at_once()).build().unwrap();
    let (error, attempts) = model_error(told(&agent).await.1.unwrap());
    assert_eq!(error.to_string(), "the model is not available for now: the server was silent for too long");
    assert_eq!(attempts, 1);
}

#[tokio::test]
async fn a_server_that_speaks_now_and_then_is_not_silent() {
    let slow = ServerReply::stream([delta("do")])
        .pause(Duration::from_millis(250))
        .piece(": still thinking\n\n")
        .pause(Duration::from_millis(250))
        .piece("data: {\"choices\": [{\"delta\": {\"content\": \"ne\"}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n");
    let server = ModelServer::start([slow]).await.unwrap();
    let model = model(&server).timeout(Duration::from_millis(400));
    let agent = Agent::builder("a").model(model).build().unwrap();
    let (events, error) = told(&agent).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(shown(&events), "done");
}

#[tokio::test]
async fn what_cannot_be_asked_is_a_permanent_error() {
    let cases = [
        GenaiModel::new("m").base_url("no address"),
        GenaiModel::new("m").base_url("http://127.0.0.1:1/v1").provider("nobody"),
        GenaiModel::new("m").base_url("http://127.0.0.1:1/v1").header("bad name", "v"),
    ];
    for model in cases {
        let agent = Agent::builder("a").model(model.clone()).build().unwrap();
        let (error, attempts) = model_error(agent.invoke("go").await.unwrap_err());
        assert_eq!(attempts, 1);
        assert!(matches!(error, ModelError::Permanent { .. }), "{model:?}: {error:?}");
    }
}

#[tokio::test]
async fn dropping_the_stream_hangs_up_on_the_server() {
    let server = ModelServer::start([ServerReply::stream([delta("do")]).then_hang()]).await.unwrap();
    let agent = agent(&server);
    let mut stream = agent.run("go").stream();
    loop {
        if let Some(Ok(RunEvent::TextDelta { .. })) = stream.next().await {
            break;
        }
    }
    drop(stream);
    // The agent stays usable.
    assert_eq!(server.requests().len(), 1);
    let (error, _) = model_error(agent.invoke("again").await.unwrap_err());
    assert!(matches!(error, ModelError::Permanent { .. }), "the script has no more replies: {error:?}");
}

const PROMPT: &str = "the-secret-prompt";
const KEY: &str = "sk-the-secret-key";
const SAID: &str = "the-secret-reply";

/// Keeps everything that is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn nothing_that_was_said_and_no_key_is_in_an_error_an_event_or_a_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);

    // Providers like to repeat what they were sent.
    let echo = json!({ "error": {
        "message": format!("cannot do {PROMPT} with {KEY}: {SAID}"),
        "type": PROMPT,
        "code": KEY,
        "param": SAID,
    } });
    let call = json!({ "id": "x", "type": "function", "function": { "name": SAID, "arguments": format!("{{{SAID}") } });
    let broken =
        json!({ "choices": [{ "message": { "content": SAID, "tool_calls": [call] }, "finish_reason": "stop" }] });
    let frame = |data: &Value| format!("data: {data}\n\n");
    let replies = [
        ServerReply::status(400).json(echo.clone()),
        ServerReply::status(500).json(echo.clone()),
        ServerReply::status(302).header("location", format!("/{KEY}")),
        ServerReply::status(200).json(echo.clone()),
        ServerReply::status(200).json(broken),
        ServerReply::status(200).header("content-type", "application/json").body(format!("{{\"{SAID}")),
        ServerReply::status(200).header("content-type", "text/plain").body(format!("{PROMPT} {KEY} {SAID}")),
        ServerReply::stream([frame(&echo)]),
        ServerReply::stream([format!("data: {{\"{SAID}\n\n")]),
        ServerReply::stream([format!("event: {SAID}\ndata: {SAID}\n\n")]).cut(),
        ServerReply::raw(format!("HTTP/1.1 {SAID}\r\n\r\n")),
        ServerReply::hang(),
    ];
    for reply in replies {
        for listened_to in [false, true] {
            let server = ModelServer::start([reply.clone()]).await.unwrap();
            let events = Arc::new(Mutex::new(String::new()));
            let seen = Arc::clone(&events);
            let model = model(&server).api_key(KEY).header("x-key", KEY).timeout(Duration::from_millis(100));
            assert!(!format!("{model:?}").contains(KEY));
            let agent = Agent::builder("a")
                .instructions(PROMPT)
                .model(model)
                .retry(Retry::never())
                .observer(move |event: &RunEvent| write!(seen.lock().unwrap(), "{event:?}").unwrap())
                .build()
                .unwrap();
            let error = if listened_to {
                let mut stream = agent.run(PROMPT).stream();
                loop {
                    match stream.next().await {
                        Some(Ok(event)) => write!(events.lock().unwrap(), "{event:?}").unwrap(),
                        Some(Err(error)) => break error,
                        None => panic!("{reply:?} gave an answer"),
                    }
                }
            } else {
                agent.invoke(PROMPT).await.unwrap_err()
            };
            let mut told = format!("{error} {error:?} {}", events.lock().unwrap());
            let mut source = std::error::Error::source(&error);
            while let Some(inner) = source {
                write!(told, "{inner} {inner:?}").unwrap();
                source = inner.source();
            }
            for secret in [PROMPT, KEY, SAID] {
                assert!(!told.contains(secret), "{reply:?} leaks into {told}");
            }
        }
    }
    let logged = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    for secret in [PROMPT, KEY, SAID] {
        let line = logged.lines().find(|line| line.contains(secret));
        assert!(line.is_none(), "a log holds {secret}: {line:?}");
    }
}
