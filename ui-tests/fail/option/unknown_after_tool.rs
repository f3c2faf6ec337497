use protolink::prelude::*;

#[after_tool(tols = search)]
fn hook(_observation: &mut ToolObservation<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
