use protolink::prelude::*;

fn search() {}

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    request.tools().remove::<search>();
}

fn main() {
    search();
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
