use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    request.history()[0] = Message::user("x");
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
