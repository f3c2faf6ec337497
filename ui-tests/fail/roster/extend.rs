use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    request.tools().extend([]);
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
