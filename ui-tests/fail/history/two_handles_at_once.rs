use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let mut history = request.history();
    let mut step = request.this_step();
    history.push(Message::user("x"));
    step.push(Message::user("y"));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
