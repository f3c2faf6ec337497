use protolink::prelude::*;

#[before_model]
fn hook(_state: State<u32>, _request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
