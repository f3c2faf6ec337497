use protolink::prelude::*;

#[before_model]
fn hook(_observation: &mut ToolObservation<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
