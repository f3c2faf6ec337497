use protolink::prelude::*;

struct NotATool;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    request.tools().remove::<NotATool>();
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
