//! A policy with a live approver: `cargo run --example review_gate`.
//!
//! The policy is the authority over what a tool may do. Here a refund needs a person's yes, and the person (a function
//! in this example) says yes to small ones only. The model is told why the large one was refused, and goes on.

use protolink::prelude::*;
use protolink::rules::{Approval, ApprovalRequest};
use protolink::testing::{Reply, ScriptedModel};
use protolink::tool;
use protolink_examples::narrator::narrate;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What was given back.
#[derive(Debug, Serialize, Deserialize)]
struct Refund {
    order: String,
    cents: u64,
}

/// Give a customer money back.
#[tool(capability = "money")]
fn refund(order: String, cents: u64) -> Refund {
    Refund { order, cents }
}

fn review(request: &ApprovalRequest) -> Approval {
    let cents = request.arguments["cents"].as_u64().unwrap_or(u64::MAX);
    println!("  reviewer        is asked: {} {}", request.tool, request.arguments);
    if cents <= 1_000 {
        Approval::Approve
    } else {
        Approval::Reject { reason: "more than 10.00 needs a supervisor".to_owned() }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ScriptedModel::new([
        Reply::calls([
            ("refund", json!({ "order": "A-17", "cents": 900 })),
            ("refund", json!({ "order": "B-4", "cents": 250_000 })),
        ]),
        Reply::text("Order A-17 is refunded; B-4 goes to a supervisor."),
    ]);
    let agent = Agent::builder("clerk")
        .model(model)
        .tools(tools![refund])
        .policy(CapabilityPolicy::new().require_approval("money"))
        .approver(review)
        .capture_content(true)
        .observer(narrate)
        .build()?;
    agent.invoke("Refund A-17 and B-4.").await?;
    Ok(())
}
