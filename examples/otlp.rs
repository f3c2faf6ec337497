//! The spans of a run, exported by OTLP over HTTP.
//!
//! ```text
//! cargo run --example otlp --features otlp
//! ```
//! A stub on loopback stands for the collector, and says what it got. With a real one, its address goes in the place of
//! the stub's: `http://localhost:4318/v1/traces`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use serde_json::{Value, json};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Search the catalogue.
#[tool]
fn search(query: String) -> Vec<String> {
    vec![format!("a red {query}"), query]
}

#[after_tool(tool = search)]
fn first_hit(observation: &mut ToolObservation<'_, Vec<String>>) {
    observation.result_mut().truncate(1);
}

async fn run_an_agent() -> Result<(), Failed> {
    let model = ScriptedModel::new([
        Reply::call("search", json!({ "query": "lamp" })).usage(120, 12),
        Reply::text("A red lamp.").usage(160, 5),
    ]);
    let agent = Agent::builder("shop").model(model).tools(tools![search]).hooks(hooks![first_hit]).build()?;
    println!("{}\n", agent.invoke("Which lamps are there?").await?);
    Ok(())
}

fn main() -> Result<(), Failed> {
    let (address, received) = collector_stub()?;

    // These few lines are all that an application needs.
    let exporter =
        SpanExporter::builder().with_http().with_protocol(Protocol::HttpJson).with_endpoint(address).build()?;
    let resource = Resource::builder().with_service_name("shop").build();
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build();
    let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer("protolink"));
    let ours = Targets::new().with_target("protolink", tracing::Level::INFO);
    tracing_subscriber::registry().with(spans.with_filter(ours)).init();

    tokio::runtime::Runtime::new()?.block_on(run_an_agent())?;

    // What is still waiting is sent now.
    provider.shutdown()?;
    let mut names = Vec::new();
    while let Ok(body) = received.try_recv() {
        for span in spans_of(&serde_json::from_slice(&body)?) {
            println!("{} {}", span["name"].as_str().unwrap_or_default(), attributes(span));
            names.push(span["name"].as_str().unwrap_or_default().to_owned());
        }
    }
    for expected in ["invoke_agent shop", "chat scripted", "execute_tool search", "hook first_hit"] {
        if !names.iter().any(|name| name == expected) {
            return Err(format!("the collector got no span `{expected}`, but {names:?}").into());
        }
    }
    Ok(())
}

/// The spans of one export.
fn spans_of(export: &Value) -> Vec<&Value> {
    let mut spans = Vec::new();
    for resource in export["resourceSpans"].as_array().into_iter().flatten() {
        for scope in resource["scopeSpans"].as_array().into_iter().flatten() {
            spans.extend(scope["spans"].as_array().into_iter().flatten());
        }
    }
    spans
}

/// The attributes that the conventions name, in one line.
fn attributes(span: &Value) -> String {
    use std::fmt::Write;

    let mut line = String::new();
    for attribute in span["attributes"].as_array().into_iter().flatten() {
        let key = attribute["key"].as_str().unwrap_or_default();
        if key.starts_with("gen_ai.") || key.starts_with("protolink.hook.") {
            let value = attribute["value"].as_object().and_then(|value| value.values().next()).cloned();
            // Writing to a string does not fail.
            let _ = write!(line, "{key}={} ", value.unwrap_or_default());
        }
    }
    line
}

/// A collector on loopback that hands over the body of every request.
fn collector_stub() -> std::io::Result<(String, Receiver<Vec<u8>>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/v1/traces", listener.local_addr()?);
    let (sender, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || serve(stream, &sender));
        }
    });
    Ok((address, received))
}

/// Answers the requests of one connection.
fn serve(stream: TcpStream, sender: &Sender<Vec<u8>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        let mut line = String::new();
        while reader.read_line(&mut line)? > 0 && line.trim() != "" {
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        if length == 0 {
            return Ok(());
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        // The program may have ended; then nobody wants it.
        let _ = sender.send(body);
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        reader.get_mut().write_all(answer.as_bytes())?;
    }
}
