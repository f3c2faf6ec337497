use protolink::prelude::*;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>, #[cfg(any())] _limit: State<u32>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
