use protolink::prelude::*;

#[before_model]
fn hook(history: &mut protolink::HistoryMut<'_>) {
    history.push(Message::user("x"));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
