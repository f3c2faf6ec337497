//! What an annotated tool takes from the model, and what the model is told of it.

use protolink::testing::{Reply, ScriptedModel};
use protolink::{Error, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    Rising,
    Falling,
}

type Maybe = Option<u32>;

/// Search the catalogue.
///
/// Several words narrow it down.
#[tool(capability = "catalogue.read", idempotent)]
async fn search(
    /// What to look for.
    query: String,
    /// How many hits,
    /// at most.
    limit: Maybe,
    #[default(Order::Rising)] order: Order,
    State(prefix): State<String>,
    context: ToolContext,
) -> Result<String, ToolError> {
    tokio::task::yield_now().await;
    if query.is_empty() {
        return Err(ToolError::rejected("say what to look for"));
    }
    Ok(format!("{prefix}{query} {limit:?} {order:?} {}", context.step()))
}

#[tool]
fn nothing() {}

#[tool(name = "next-number", type = NextNumber)]
fn next_number(mut number: i64) -> i64 {
    number += 1;
    number
}

fn agent() -> Agent {
    Agent::builder("a")
        .model(ScriptedModel::new([Reply::text("done")]))
        .state("> ".to_owned())
        .tools(tools![search, nothing, NextNumber])
        .build()
        .unwrap()
}

async fn refusal(name: &str, arguments: Value) -> String {
    match agent().call_tool(name, arguments).await {
        Ok(value) => panic!("{value}"),
        Err(error) => format!("{error:?}"),
    }
}

#[tokio::test]
async fn arguments_may_be_left_out_where_they_are_optional() {
    let found = agent().call_tool("search", json!({ "query": "lamp" })).await.unwrap();
    assert_eq!(found, json!("> lamp None Rising 0"));
    let found = agent().call_tool("search", json!({ "query": "lamp", "limit": 3, "order": "falling" })).await.unwrap();
    assert_eq!(found, json!("> lamp Some(3) Falling 0"));
    let found = agent().call_tool("search", json!({ "query": "lamp", "limit": null, "order": null })).await.unwrap();
    assert_eq!(found, json!("> lamp None Rising 0"));
}

#[tokio::test]
async fn null_counts_as_no_arguments_and_unit_as_null() {
    assert_eq!(agent().call_tool("nothing", Value::Null).await.unwrap(), Value::Null);
    assert_eq!(agent().call_tool("nothing", json!({})).await.unwrap(), Value::Null);
}

#[tokio::test]
async fn a_tool_goes_by_its_own_name() {
    assert_eq!(agent().call_tool("next-number", json!({ "number": 41 })).await.unwrap(), json!(42));
    assert_eq!(next_number(41), 42);
}

#[tokio::test]
async fn what_does_not_fit_is_refused_in_words_that_name_it() {
    assert!(refusal("search", json!({})).await.contains("the argument `query` is missing"));
    assert!(refusal("search", json!({ "query": 3 })).await.contains("the argument `query` does not fit"));
    let unknown = refusal("search", json!({ "query": "x", "prefix": "y" })).await;
    assert!(unknown.contains("there is no argument `prefix`"), "{unknown}");
    assert!(unknown.contains("`query`, `limit`, `order`"), "{unknown}");
    assert!(refusal("search", json!(["x"])).await.contains("object"));
    assert!(refusal("nothing", json!({ "x": 1 })).await.contains("the tool takes no arguments"));
}

#[tokio::test]
async fn a_rejection_of_the_tools_own_is_told_as_such() {
    let error = agent().call_tool("search", json!({ "query": "" })).await.unwrap_err();
    assert!(matches!(error, Error::CallRefused { .. } | Error::Tool { .. }), "{error:?}");
    assert!(format!("{error:?}").contains("say what to look for"), "{error:?}");
}

/// What the model is told: names, descriptions, types, what is required, and defaults.
#[tokio::test]
async fn the_model_reads_the_documentation() {
    fn read(request: &mut ModelRequest<'_>) {
        let tools = request.tools();
        let tool = tools.iter().find(|tool| tool.name() == "search").unwrap();
        assert_eq!(tool.description(), "Search the catalogue.\n\nSeveral words narrow it down.");
        assert_eq!(tool.capabilities(), ["catalogue.read"]);
        let schema = tool.schema();
        assert_eq!(schema["required"], json!(["query"]));
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(schema["properties"]["query"], json!({ "type": "string", "description": "What to look for." }));
        assert_eq!(schema["properties"]["limit"]["description"], "How many hits,\nat most.");
        assert_eq!(schema["properties"]["order"]["default"], "rising");
        assert_eq!(schema["properties"].as_object().unwrap().len(), 3);
    }

    let agent = Agent::builder("a")
        .model(ScriptedModel::new([Reply::text("done")]))
        .state("> ".to_owned())
        .tools(tools![search, nothing, NextNumber])
        .before_model("read", read)
        .build()
        .unwrap();
    agent.invoke("hello").await.unwrap();
}

/// A tool that no hook names is still typed: what an `after_tool` hook changes is what the model sees.
#[tokio::test]
async fn t4_typed_observations_come_out_of_json_and_go_back() {
    #[after_tool(tool = NextNumber)]
    async fn double(observation: &mut ToolObservation<'_, i64>) -> Result<(), String> {
        tokio::task::yield_now().await;
        *observation.result_mut() *= 2;
        Ok(())
    }

    #[after_tool(tool = search)]
    fn never(_observation: &mut ToolObservation<'_, String>) -> Result<(), String> {
        Err("another tool's".to_owned())
    }

    let model =
        ScriptedModel::new([Reply::call("next-number", json!({ "number": i64::MAX / 4 })), Reply::text("done")]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .state("> ".to_owned())
        .tools(tools![search, NextNumber])
        .hooks(hooks![double, never])
        .build()
        .unwrap();
    agent.invoke("hello").await.unwrap();
    let shown = format!("{:?}", model.requests()[1].messages);
    assert!(shown.contains(&((i64::MAX / 4 + 1) * 2).to_string()), "{shown}");
}
