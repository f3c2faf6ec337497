use protolink::prelude::*;

#[before_complete]
fn hook(response: &mut FinalResponse<'_>) {
    let _: FinalResponse<'_> = response.clone();
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
