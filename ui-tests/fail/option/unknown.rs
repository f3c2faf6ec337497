use protolink::prelude::*;

#[before_model(priority = 3)]
fn hook(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
