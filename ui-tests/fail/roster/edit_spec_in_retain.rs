use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    request.tools().retain(|spec| {
        spec.name = "other".to_owned();
        true
    });
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
