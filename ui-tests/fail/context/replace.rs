use protolink::prelude::*;

#[before_complete]
fn hook(response: &mut FinalResponse<'_>) {
    *response.context() = response.context().clone();
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
