use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let mut kept = None;
    request.history().edit(0, |message| kept = Some(message));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
