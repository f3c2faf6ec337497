use protolink::prelude::*;

#[before_complete]
fn hook(_response: &mut FinalResponse<'_>) -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
