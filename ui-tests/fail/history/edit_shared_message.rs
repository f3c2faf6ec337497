use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    if let Some(message) = request.history().get(0) {
        *message = Message::user("x");
    }
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
