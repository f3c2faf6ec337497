use protolink::prelude::*;

async fn other() {}

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) {
    other().await;
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
