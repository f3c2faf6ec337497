use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let spec = request.tools().iter().next().unwrap().clone();
    request.tools().push(spec);
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
