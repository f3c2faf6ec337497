use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    request.history().swap(0, 1);
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
