use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let _ = protolink::HistoryMut { messages: Vec::new() };
    let _ = request.step();
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
