use protolink::prelude::*;

struct Plan;

#[before_complete]
fn hook(_response: &mut FinalResponse<'_, Plan>) {}

fn main() {
    let _ = hook;
}
