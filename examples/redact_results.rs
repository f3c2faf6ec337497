//! Secrets never reach the model, and the receipt keeps them: `cargo run --example redact_results`.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{after_tool, before_complete, tool};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A customer, as the database has one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Customer {
    name: String,
    card: String,
}

/// Look up a customer by name.
#[tool]
fn find_customer(name: String) -> Customer {
    Customer { name, card: "4111 1111 1111 1111".to_owned() }
}

/// The model needs to know that there is a card, not which.
#[after_tool(tool = find_customer)]
fn redact_card(observation: &mut ToolObservation<'_, Customer>) {
    let customer = observation.result_mut();
    let last = customer.card.split(' ').next_back().unwrap_or_default();
    customer.card = format!("ends in {last}");
}

/// The check sees the evidence: no true card number may leave, wherever the model got it from.
#[before_complete]
fn no_card_leaves(response: &mut FinalResponse<'_>) -> Result<(), String> {
    let answer = response.text().unwrap_or_default();
    let cards = response.receipts().iter().filter_map(|receipt| receipt.result()?["card"].as_str());
    let leaked = cards.filter(|card| answer.contains(card)).count();
    if leaked == 0 { Ok(()) } else { Err("the answer holds a card number".to_owned()) }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = ScriptedModel::new([
        Reply::call("find_customer", json!({ "name": "Ada" })),
        Reply::text("Ada pays with the card that ends in 1111."),
    ]);
    let agent = Agent::builder("support")
        .model(model.clone())
        .tools(tools![find_customer])
        .hooks(hooks![redact_card, no_card_leaves])
        .capture_content(true)
        .observer(|event: &RunEvent| {
            if let RunEvent::Observed { result, observed, .. } = event {
                println!("the receipt keeps   {}", result.content().map(ToString::to_string).unwrap_or_default());
                println!("the model is shown  {}", observed.content().map(ToString::to_string).unwrap_or_default());
            }
        })
        .build()?;
    let answer = agent.invoke("How does Ada pay?").await?;
    println!("the answer is       {answer}");

    let sent = format!("{:?}", model.requests());
    assert!(!sent.contains("4111"), "no request holds the card number");
    Ok(())
}
