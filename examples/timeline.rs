//! Prints a stored run as a timeline: `cargo run --example timeline --features sqlite`.
//!
//! With a file and a run's name it prints that run: `.. -- runs.sqlite refund-A-17`. Without, it makes a run first.

use protolink::durable::{CallState, Record, decode};
use protolink::durable::{MemoryStore, Page, RunFilter, RunStore};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{Captured, Change, Message};
use protolink_examples::assistant::{App, check_citation, delete_document, keep_hits, search, select_context};
use serde_json::json;

/// Makes a run in memory, for something to look at.
async fn example() -> Result<(MemoryStore, String), Error> {
    let store = MemoryStore::new();
    let model = ScriptedModel::new([
        Reply::calls([
            ("search", json!({ "word": "receipt" })),
            ("delete_document", json!({ "document": "README.md" })),
        ]),
        Reply::text("A receipt is what a tool really gave back; see README.md."),
    ]);
    let agent = Agent::builder("librarian")
        .model(model)
        .state(App::of_this_repository())
        .tools(tools![search, delete_document])
        .hooks(hooks![select_context, keep_hits, check_citation])
        .durable(store.clone())
        .build()?;
    let outcome = agent.run("What is a receipt?").run_id("example").await?;
    debug_assert!(outcome.answer().is_some());
    Ok((store, "example".to_owned()))
}

fn shortened(text: &str) -> String {
    let start: String = text.chars().take(72).collect();
    if start.len() < text.len() { format!("{start}..") } else { start }
}

/// What the conversation gained: among it, what the model saw of each call.
fn tell_delta(delta: &[Change]) {
    for change in delta {
        let Change::Pushed { message: Captured::Content(message), .. } = change else { continue };
        match &**message {
            Message::User(content) => println!("        user       {}", shortened(&content.text)),
            Message::Assistant(turn) => {
                for exchange in turn.calls() {
                    let seen = exchange.outcome.to_model_text();
                    println!("        the model saw of {}: {}", exchange.call.name, shortened(&seen));
                }
            }
        }
    }
}

fn tell(record: &Record) {
    match record {
        Record::Started(started) => {
            println!("started under {}", started.contract);
            tell_delta(&started.delta);
        }
        Record::Replied(replied) => {
            println!("step {}  the model replied; its tools were: {}", replied.step, replied.roster.join(", "));
            for hook in &replied.hooks {
                println!("        {} {} at step {}: {} changes", hook.stage, hook.hook, hook.step, hook.changes);
            }
            tell_delta(&replied.delta);
            for call in &replied.calls {
                let stands = match &call.state {
                    CallState::Refused(outcome) => shortened(&outcome.to_model_text()),
                    CallState::AwaitsApproval => "waits for approval".to_owned(),
                    CallState::AwaitsAnswer => "waits for an answer".to_owned(),
                    _ => "is about to run".to_owned(),
                };
                println!("        call       {} {}: {stands}", call.call.name, call.call.arguments);
            }
        }
        Record::Receipted { receipt, .. } => {
            let gave = receipt.result().map_or_else(|| format!("{:?}", receipt.outcome), ToString::to_string);
            println!("        receipt    {} really gave: {}", receipt.tool, shortened(&gave));
        }
        Record::Decided(decided) => println!("        a person decided about {}", decided.action_id),
        Record::Dispatched { actions, .. } => println!("        {} calls are dispatched", actions.len()),
        Record::Resumed(resumed) => println!("resumed, with {} accepted changes", resumed.accepted.len()),
        Record::Completed { content, hooks, delta, .. } => {
            tell_delta(delta);
            for hook in hooks {
                println!("        {} {} at step {}: {} changes", hook.stage, hook.hook, hook.step, hook.changes);
            }
            println!("completed: {content}");
        }
        Record::Failed { error, .. } => println!("failed: {error}"),
        Record::Cancelled { .. } => println!("cancelled"),
        other => println!("{other:?}"),
    }
}

async fn print(store: &impl RunStore, run_id: &str) -> Result<(), Box<dyn std::error::Error>> {
    let stored = store.load(&run_id.into()).await?;
    println!(
        "{} of agent {}, {} since {}",
        stored.summary.run_id, stored.summary.agent, stored.summary.state, stored.summary.created_at
    );
    for record in decode(&stored)? {
        tell(&record);
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.as_slice() {
        [file, run_id] => print(&SqliteStore::open(file)?, run_id).await,
        [file] => {
            let page = SqliteStore::open(file)?.list(&RunFilter::new(), Page::newest(20)).await?;
            for run in page.runs {
                println!("{}  {}  {}", run.created_at, run.state, run.run_id);
            }
            Ok(())
        }
        _ => {
            let (store, run_id) = example().await?;
            print(&store, &run_id).await
        }
    }
}
