use protolink::prelude::*;

#[after_tool]
fn hook(_observation: &mut ToolObservation<'_>) -> Option<()> {
    None
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
