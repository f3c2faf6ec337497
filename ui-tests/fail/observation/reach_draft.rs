use protolink::prelude::*;

#[after_tool]
fn hook(observation: &mut ToolObservation<'_>) {
    let _ = &mut observation.result;
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
