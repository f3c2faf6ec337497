use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    request.history().drain(..);
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
