use protolink::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Plan {
    steps: u32,
}

#[before_complete]
fn hook(response: &mut FinalResponse<'_, Plan>) {
    response.answer_mut().steps += 1;
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
