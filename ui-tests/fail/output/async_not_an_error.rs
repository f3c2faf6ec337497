use protolink::prelude::*;

struct Oops;

#[before_complete]
async fn hook(_response: &mut FinalResponse<'_>) -> Result<(), Oops> {
    Err(Oops)
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
