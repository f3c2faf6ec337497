//! Prints what happens in a run, a line each.

use protolink::{Captured, Change, RunEvent, SharedValue};

/// Prints one event.
pub fn narrate(event: &RunEvent) {
    match event {
        RunEvent::StepStarted { step } => println!("\nstep {step}"),
        RunEvent::HookRan { stage, hook, changes, duration, .. } => {
            let did = if changes.is_empty() {
                "changed nothing".to_owned()
            } else {
                changes.iter().map(in_words).collect::<Vec<_>>().join("; ")
            };
            println!("  {stage:<15} {hook}: {did}  ({duration:.0?})");
        }
        RunEvent::ModelRequested { tools, .. } => println!("  model           is told of: {}", tools.join(", ")),
        RunEvent::ModelReplied { calls: 0, .. } => println!("  model           proposes an answer"),
        RunEvent::ModelReplied { calls, .. } => println!("  model           calls {calls} tools"),
        RunEvent::CallRefused { reason, .. } => println!("  refused         {reason}"),
        RunEvent::ToolFinished { tool, succeeded, duration, .. } => {
            let ended = if *succeeded { "ran" } else { "failed" };
            println!("  tool            {tool} {ended}; its receipt is kept  ({duration:.0?})");
        }
        RunEvent::Observed { tool, result, observed, .. } => {
            println!("  receipt         {tool} really gave   {}", shortened(result));
            println!("                  the model is shown {}", shortened(observed));
        }
        RunEvent::Completed(answer) => println!("\nvalidated answer\n  {answer}"),
        RunEvent::Failed { error } => println!("\nfailed\n  {error}"),
        _ => {}
    }
}

fn in_words(change: &Change) -> String {
    match change {
        Change::ToolRemoved { tool } => format!("removed the tool {tool} for this step"),
        Change::SystemAppended { .. } => "appended to the system message".to_owned(),
        Change::SystemSet { .. } => "set the system message".to_owned(),
        Change::Pushed { .. } | Change::Inserted { .. } => "added a message".to_owned(),
        Change::Removed { .. } => "removed a message".to_owned(),
        Change::Edited { .. } => "edited a message".to_owned(),
        Change::ResultChanged { .. } => "changed what the model sees".to_owned(),
        Change::AnswerChanged { .. } => "changed the answer".to_owned(),
        other => format!("{other:?}"),
    }
}

fn shortened(value: &Captured<SharedValue>) -> String {
    match value {
        Captured::Content(value) => {
            let text = value.to_string();
            let start: String = text.chars().take(60).collect();
            format!("{} bytes: {start}{}", text.len(), if start.len() < text.len() { ".." } else { "" })
        }
        Captured::Digest { digest, bytes } => format!("{bytes} bytes, sha256 {:.12}", digest.to_string()),
    }
}
