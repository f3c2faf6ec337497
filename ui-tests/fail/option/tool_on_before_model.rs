use protolink::prelude::*;

#[before_model(tool = search)]
fn hook(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
