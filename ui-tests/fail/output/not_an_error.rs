use protolink::prelude::*;

struct Oops;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) -> Result<(), Oops> {
    Err(Oops)
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
