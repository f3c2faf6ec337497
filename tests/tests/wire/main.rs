//! Real models over loopback HTTP.
//!
//! They share one binary: each one links the whole library.

mod anthropic;
mod faults;
mod ollama;
mod openai;
mod replies;

use protolink::prelude::*;

/// Runs a prompt as a stream, and gives the text that was shown with how it ended.
async fn streamed(agent: &Agent, prompt: &str) -> (String, Result<String, Error>) {
    let mut shown = String::new();
    let mut stream = agent.run(prompt).stream();
    while let Some(event) = stream.next().await {
        match event {
            Ok(RunEvent::TextDelta { text, .. }) => shown.push_str(&text),
            Ok(RunEvent::Completed(answer)) => return (shown, Ok(answer.text().to_owned())),
            Ok(_) => {}
            Err(error) => return (shown, Err(error)),
        }
    }
    (shown, Ok("the stream ended without an end".to_owned()))
}
