//! A run that outlives its process, three times: `cargo run --example durable_approval --features sqlite -- start`.
//!
//! Each word is a process of its own, on one file, as it would be in production:
//!
//! ```text
//! .. -- start      the run pauses: a refund needs a person's yes
//! .. -- changed    another deploy, whose hook differs, is refused with what changed
//! .. -- approve    the refund runs, once; then the model asks the user a question, and the run pauses again
//! .. -- answer ada@example.com      the run gives its answer
//! ```

use std::path::PathBuf;

use protolink::ToolOutcome;
use protolink::prelude::*;
use protolink::testing::{RecordedRequest, Reply, ScriptedModel};
use serde_json::json;

const RUN: &str = "refund-A-17";

/// Give a customer money back.
#[tool(capability = "money")]
fn refund(order: String, cents: u64) -> (String, u64) {
    println!("  the refund happens: {cents} cents for {order}");
    (order, cents)
}

#[before_model]
fn be_brief(request: &mut ModelRequest<'_>) {
    request.history().append_system("Answer in one sentence.");
}

/// What another deploy made of the hook.
mod next_deploy {
    use protolink::prelude::*;

    #[before_model]
    pub(crate) fn be_brief(request: &mut ModelRequest<'_>) {
        request.history().append_system("Answer in two sentences.");
    }
}

/// Stands in for a model: what it does next follows from what it is sent, so that it works in any process.
fn reply(request: &RecordedRequest) -> Reply {
    let calls: Vec<_> = request.messages.iter().flat_map(|message| message.calls()).collect();
    match calls.as_slice() {
        [] => Reply::call("refund", json!({ "order": "A-17", "cents": 900 })),
        [_] => Reply::call("ask_user", json!({ "question": "Where shall the receipt go?" })),
        [.., asked] => match &asked.outcome {
            ToolOutcome::Observed(place) => {
                Reply::text(format!("Refunded; the receipt goes to {}.", place.as_str().unwrap_or("?")))
            }
            other => Reply::text(format!("Not done: {}", other.to_model_text())),
        },
    }
}

fn agent(file: PathBuf, changed: bool) -> Result<Agent, Error> {
    let agent = Agent::builder("clerk")
        .model(ScriptedModel::from_fn(reply))
        .tools(tools![refund])
        .ask_user()
        .policy(CapabilityPolicy::new().require_approval("money"))
        .durable(SqliteStore::open(file)?);
    let agent = if changed { agent.hooks(hooks![next_deploy::be_brief]) } else { agent.hooks(hooks![be_brief]) };
    Ok(agent.build()?)
}

fn show(outcome: &Outcome) {
    match outcome {
        Outcome::Completed(answer) => println!("  answer: {answer}"),
        Outcome::Interrupted(interruption) => {
            println!("  {interruption}");
            if let Some(arguments) = interruption.arguments() {
                println!("  arguments: {arguments}");
            }
            if let Some(question) = interruption.question() {
                println!("  question: {question}");
            }
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = words.first().map_or("start", String::as_str);
    let file = std::env::temp_dir().join("protolink-durable-approval.sqlite");
    if word == "start" {
        // Each start is a fresh one, so that the example can be run again.
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", file.display()));
        }
    }
    let agent = agent(file, word == "changed")?;
    println!("{word}");
    if word == "start" {
        show(&agent.run("Refund A-17.").run_id(RUN).await?);
        return Ok(());
    }
    let waits_for = agent.interruption(RUN).await?.ok_or("nothing waits; begin with `start`")?;
    match word {
        "changed" => match agent.resume(RUN).approve(&waits_for).await {
            Err(error @ Error::ContractChanged { .. }) => println!("  refused: {error}"),
            other => println!("  {other:?}"),
        },
        "approve" => show(&agent.resume(RUN).approve(&waits_for).await?),
        "answer" => {
            let text = words.get(1).cloned().unwrap_or_default();
            show(&agent.resume(RUN).answer(&waits_for, text).await?);
        }
        other => println!("  there is no `{other}`: say start, changed, approve or answer"),
    }
    Ok(())
}
