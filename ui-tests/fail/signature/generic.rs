use protolink::prelude::*;

#[before_model]
fn hook<T: Send, const N: usize>(_request: &mut ModelRequest<'_>, _x: State<[T; N]>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
