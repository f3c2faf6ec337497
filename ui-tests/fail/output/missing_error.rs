use protolink::prelude::*;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) -> Result<(), Missing> { // wrong
    Ok(())
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
