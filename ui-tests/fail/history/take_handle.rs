use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let _ = std::mem::take(&mut request.history());
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
