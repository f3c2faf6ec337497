use protolink::prelude::*;
use protolink::testing::ObservationFixture;

#[after_tool]
fn hook(observation: &mut ToolObservation<'_>) {
    ObservationFixture::json("other", serde_json::json!(1)).with(|other| std::mem::swap(observation, other));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
