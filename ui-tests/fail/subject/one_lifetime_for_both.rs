use protolink::prelude::*;

#[before_model]
fn hook<'a>(_request: &'a mut ModelRequest<'a>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
