use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let _ = request.history().clone();
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
