use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    *request = ModelRequest { ..*request };
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
