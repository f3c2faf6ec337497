use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    std::thread::spawn(move || request.history().push(Message::user("late")));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
