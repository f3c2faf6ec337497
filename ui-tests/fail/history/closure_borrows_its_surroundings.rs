use protolink::prelude::*;

fn build(text: &str) -> Agent {
    Agent::builder("a")
        .before_model("add", |request: &mut ModelRequest<'_>| request.history().push(Message::user(text)))
        .build()
        .unwrap()
}

fn main() {
    let _ = build;
}
