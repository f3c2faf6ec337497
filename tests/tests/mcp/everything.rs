//! The reference server of the Model Context Protocol, which is written in TypeScript: another ecosystem's hands.
//!
//! `tests/mcp-everything/install.sh` installs it, and `.ci/run` calls that script. Without the variable that
//! names the server's entry there is nothing to talk to, and the test says how to get it.

use std::process::Command;
use std::time::Duration;

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{McpTools, ToolOutcome};
use serde_json::json;

/// The path of the server's `index.js`.
const ENTRY: &str = "PROTOLINK_MCP_EVERYTHING";

async fn use_its_tools(tools: &McpTools) {
    let model = ScriptedModel::new([
        Reply::calls([
            ("ref_echo", json!({ "message": "grüße" })),
            ("ref_get-sum", json!({ "a": 2, "b": 3 })),
            ("ref_get-structured-content", json!({ "location": "New York" })),
            ("ref_get-tiny-image", json!({})),
            ("ref_get-resource-links", json!({ "count": 1 })),
        ]),
        Reply::call("ref_get-sum", json!({ "a": "two" })),
        Reply::text("done"),
    ]);
    let agent =
        Agent::builder("visitor").model(model.clone()).dyn_tools(tools.tools()).build().expect("the agent is sound");
    assert_eq!(agent.invoke("go").await.expect("an answer").text(), "done");
    let requests = model.requests();
    let outcomes: Vec<&ToolOutcome> =
        requests[2].messages.iter().flat_map(|message| message.calls()).map(|call| &call.outcome).collect();
    let observed = |index: usize| outcomes[index].observed().unwrap_or_else(|| panic!("{:?}", outcomes[index]));
    assert_eq!(*observed(0), "Echo: grüße");
    assert_eq!(*observed(1), "The sum of 2 and 3 is 5.");
    assert!(observed(2)["temperature"].is_number());
    assert!(matches!(outcomes[3], ToolOutcome::Failed(told) if told.contains("image/png")), "{:?}", outcomes[3]);
    assert_eq!(observed(4)[1]["type"], "resource_link");
    assert!(outcomes[5].is_error(), "arguments that do not fit come back as an error: {:?}", outcomes[5]);
}

#[tokio::test]
async fn the_reference_server_is_spoken_with_over_both_transports() {
    let Some(entry) = std::env::var_os(ENTRY) else {
        assert!(std::env::var_os("CI").is_none(), "{ENTRY} must be set where everything is to be tested");
        println!(
            "{ENTRY} is not set; tests/mcp-everything/install.sh installs the server and prints what to set it to"
        );
        return;
    };
    let keep = |name: &str| name.starts_with("get-") || name == "echo";
    let mut command = Command::new("node");
    command.arg(&entry).arg("stdio");
    let tools = McpTools::child_process(command).prefix("ref_").filter(keep).await.expect("the server over stdio");
    use_its_tools(&tools).await;
    tools.close().await;

    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let mut server = tokio::process::Command::new("node")
        .arg(&entry)
        .arg("streamableHttp")
        .env("PORT", port.port().to_string())
        .kill_on_drop(true)
        .spawn()
        .expect("node runs");
    let mut connected = None;
    for _ in 0..100 {
        let connect = McpTools::http(format!("http://{port}/mcp")).prefix("ref_").filter(keep);
        match connect.timeout(Duration::from_secs(20)).await {
            Ok(tools) => {
                connected = Some(tools);
                break;
            }
            // It takes its time to listen.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
    use_its_tools(&connected.expect("the server over HTTP")).await;
    server.kill().await.expect("the server ends");
}
