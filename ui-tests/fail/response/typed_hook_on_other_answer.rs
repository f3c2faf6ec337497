use protolink::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Plan {
    steps: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Report {
    title: String,
}

#[before_complete]
fn hook(response: &mut FinalResponse<'_, Plan>) {
    response.answer_mut().steps += 1;
}

fn main() {
    let _ = Agent::builder("a").answer::<Report>().hooks(hooks![hook]);
}
