use protolink::prelude::*;

#[after_tool]
fn hook(observation: &mut ToolObservation<'_>) {
    let _: &mut protolink::RunContext = observation.context();
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
