//! The tools of a server of the Model Context Protocol, under an agent's own policy and hooks.
//!
//! ```text
//! cargo build --example agent_as_mcp_tool --features mcp
//! cargo run --example mcp_tools --features mcp
//! ```
//! The server is the other example here, started as a child process. Another command can be named instead, and its
//! tools are listed:
//!
//! ```text
//! cargo run --example mcp_tools --features mcp -- npx -y @modelcontextprotocol/server-everything
//! ```

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use protolink::McpTools;
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use serde_json::json;

/// A server's words are data, and long ones are cut before the model sees them. The receipt keeps them whole.
#[after_tool]
fn shorten(observation: &mut ToolObservation<'_>) -> Result<(), protolink::ValueError> {
    let words = observation.result().as_str().unwrap_or_default();
    let short: String = words.chars().take(200).collect();
    if short.len() < words.len() { observation.set_result(short) } else { Ok(()) }
}

/// The example beside this one.
fn neighbour() -> Result<Command, std::io::Error> {
    let name = format!("agent_as_mcp_tool{}", std::env::consts::EXE_SUFFIX);
    let path: PathBuf = std::env::current_exe()?.with_file_name(name);
    Ok(Command::new(path))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    if let Some(program) = words.next() {
        let mut command = Command::new(program);
        command.args(words);
        let tools = McpTools::child_process(command).await?;
        println!("{} lists:", tools.server());
        for tool in tools.tools() {
            println!("- {}: {}", tool.spec().name(), tool.spec().description());
        }
        tools.close().await;
        return Ok(());
    }

    let archive = McpTools::child_process(neighbour()?)
        .prefix("archive_")
        .filter(|name| name.starts_with("ask_"))
        .timeout(Duration::from_secs(20))
        .await?;
    let model = ScriptedModel::new([
        Reply::call("archive_ask_archivist", json!({ "question": "Which lamps are there?" })),
        Reply::text("The archive has two lamps."),
    ]);
    let agent = Agent::builder("visitor")
        .model(model)
        // What a tool may do is for the application to say, not for the server.
        .dyn_tools(archive.tools().map(|tool| tool.capability("archive.read")))
        .policy(CapabilityPolicy::new().deny("archive.write"))
        .hooks(hooks![shorten])
        .observer(|event: &RunEvent| {
            if let RunEvent::ToolFinished { tool, succeeded, duration, .. } = event {
                println!("{tool}: {} in {duration:?}", if *succeeded { "done" } else { "failed" });
            }
        })
        .build()?;
    println!("{}", agent.invoke("What is in the archive?").await?);

    // A list that the server changes later changes no agent; a new one is built of the new list.
    println!("the list has changed since: {}", archive.has_changed());
    archive.close().await;
    Ok(())
}
