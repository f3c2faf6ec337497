use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let _: ModelRequest<'_> = request.clone();
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
