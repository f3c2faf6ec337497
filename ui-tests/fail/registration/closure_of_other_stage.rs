use protolink::prelude::*;

fn main() {
    let _ = Agent::builder("a").before_model("cap", |_observation: &mut ToolObservation<'_>| {});
}
