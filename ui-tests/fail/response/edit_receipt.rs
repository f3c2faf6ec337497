use protolink::prelude::*;

#[before_complete]
fn hook(response: &mut FinalResponse<'_>) {
    response.receipts().clear();
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
