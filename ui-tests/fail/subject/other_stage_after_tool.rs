use protolink::prelude::*;

#[after_tool]
fn hook(_response: &mut FinalResponse<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
