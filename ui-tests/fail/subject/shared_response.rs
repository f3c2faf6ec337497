use protolink::prelude::*;

#[before_complete]
fn hook(_response: &FinalResponse<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
