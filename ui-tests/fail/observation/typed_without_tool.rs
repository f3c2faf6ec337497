use protolink::prelude::*;

#[after_tool]
fn hook(_observation: &mut ToolObservation<'_, String>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
