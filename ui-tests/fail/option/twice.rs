use protolink::prelude::*;

#[before_model(timeout = "1s", timeout = "2s")]
async fn hook(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
