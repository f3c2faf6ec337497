//! Two tools answer in two shapes; the model sees one.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Serialize, Deserialize)]
struct Celsius {
    degrees: f64,
}

#[derive(Serialize, Deserialize)]
struct Report {
    temp: f64,
    unit: String,
}

/// The weather of the old service.
#[tool]
fn old_weather() -> Celsius {
    Celsius { degrees: 20.0 }
}

/// The weather of the new service.
#[tool]
fn new_weather() -> Report {
    Report { temp: 68.0, unit: "F".to_owned() }
}

#[after_tool(tool = new_weather)]
fn in_celsius(observation: &mut ToolObservation<'_, Report>) {
    let report = observation.result_mut();
    if report.unit == "F" {
        report.temp = (report.temp - 32.0) / 1.8;
        "C".clone_into(&mut report.unit);
    }
}

#[after_tool]
fn one_shape(observation: &mut ToolObservation<'_>) {
    let degrees = observation.result().get("degrees").or(observation.result().get("temp")).cloned();
    *observation.result_mut() = json!({ "celsius": degrees });
}

#[tokio::test]
async fn t4_a_typed_hook_and_a_general_one_work_together() {
    let model = ScriptedModel::new([
        Reply::calls([("old_weather", json!({})), ("new_weather", json!({}))]),
        Reply::text("20 degrees."),
    ]);
    let agent = Agent::builder("weather")
        .model(model.clone())
        .tools(tools![old_weather, new_weather])
        .hooks(hooks![in_celsius, one_shape])
        .build()
        .unwrap();
    agent.invoke("How warm is it?").await.unwrap();
    let requests = model.requests();
    let seen: Vec<_> = requests[1].messages[1].calls().iter().filter_map(|call| call.outcome.observed()).collect();
    assert_eq!(seen, [&json!({ "celsius": 20.0 }), &json!({ "celsius": 20.0 })]);
}
