use protolink::prelude::*;

#[before_model]
async fn hook(_request: &mut ModelRequest<'_>) -> bool {
    true
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
