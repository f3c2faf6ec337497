use protolink::prelude::*;

mod axum {
    pub struct State<T>(pub T);
}

use axum::State;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>, State(_limit): State<u32>) -> Result<(), String> {
    Ok(())
}

fn main() {
    let _ = Agent::builder("a").state(3_u32).hooks(hooks![hook]);
}
