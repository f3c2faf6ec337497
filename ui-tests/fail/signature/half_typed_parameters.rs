use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>, state: ) {
    request.history().push(Message::user("x"));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
