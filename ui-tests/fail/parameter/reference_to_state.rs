use protolink::prelude::*;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>, _state: &State<u32>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
