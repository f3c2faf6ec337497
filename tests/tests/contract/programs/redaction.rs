//! Secrets in results never reach the model; the receipt keeps them.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use serde_json::{Value, json};

/// Read the deployment's configuration.
#[tool]
fn read_config() -> Value {
    json!({ "region": "eu", "api_key": "sk-live-1", "nested": [{ "password": "hunter2" }] })
}

fn redact(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                if ["api_key", "password"].contains(&name.as_str()) {
                    *field = "[redacted]".into();
                } else {
                    redact(field);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        _ => {}
    }
}

#[after_tool]
fn redact_secrets(observation: &mut ToolObservation<'_>) {
    redact(observation.result_mut());
}

#[before_complete]
fn receipt_has_them(response: &mut FinalResponse<'_>) -> Result<(), &'static str> {
    let kept = response.receipts()[0].result().is_some_and(|result| result["api_key"] == "sk-live-1");
    if kept { Ok(()) } else { Err("the receipt must keep what really happened") }
}

#[tokio::test]
async fn t3_secrets_do_not_reach_the_model() {
    let model = ScriptedModel::new([Reply::call("read_config", json!({})), Reply::text("It runs in eu.")]);
    let agent = Agent::builder("ops")
        .model(model.clone())
        .tools(tools![read_config])
        .hooks(hooks![redact_secrets, receipt_has_them])
        .build()
        .unwrap();
    agent.invoke("Where does it run?").await.unwrap();
    let sent = format!("{:?}", model.requests());
    assert!(sent.contains("eu") && sent.contains("[redacted]"));
    assert!(!sent.contains("sk-live-1") && !sent.contains("hunter2"));
}
