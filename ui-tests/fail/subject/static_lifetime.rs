use protolink::prelude::*;

#[before_model]
fn hook(_request: &'static mut ModelRequest<'static>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
