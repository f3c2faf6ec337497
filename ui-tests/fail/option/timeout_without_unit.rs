use protolink::prelude::*;

#[before_model(timeout = "2")]
async fn hook(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
