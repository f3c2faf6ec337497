use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    request.context().agent = "other".to_owned();
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
