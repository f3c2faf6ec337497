//! An agent with one hook of each stage.

mod hooks;

use hooks::{be_brief, check_answer, keep_three, search};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use serde_json::json;

/// The agent, with the model that it is given.
fn agent(model: impl protolink::model::Model) -> Result<Agent, protolink::BuildError> {
    Agent::builder("{{project-name}}")
        .instructions("Answer from what the tools give back.")
        .model(model)
        .tools(tools![search])
        .hooks(hooks![be_brief, keep_three, check_answer])
        .build()
}

/// Stands in for a model until a real one is there.
fn script() -> ScriptedModel {
    ScriptedModel::new([Reply::call("search", json!({ "query": "lamps" })), Reply::text("There are lamps.")])
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", agent(script())?.invoke("What is there?").await?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_model_sees_three_hits_and_the_rule() {
        let model = script();
        agent(model.clone()).unwrap().invoke("What is there?").await.unwrap();
        let requests = model.requests();
        assert!(requests[0].system.contains("one sentence"));
        let seen = requests[1].messages[1].calls()[0].outcome.observed().unwrap();
        assert_eq!(seen.as_array().unwrap().len(), 3);
    }
}
