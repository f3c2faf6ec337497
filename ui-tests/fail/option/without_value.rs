use protolink::prelude::*;

#[after_tool(tool)]
fn hook(_observation: &mut ToolObservation<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
