use protolink::prelude::*;

#[after_tool]
fn hook(observation: &mut ToolObservation<'_>) {
    observation.receipt().result = serde_json::Value::Null;
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
