use protolink::prelude::*;

fn main() {
    let text = "x".to_owned();
    let _ = Agent::builder("a").before_model("add", async move |request: &mut ModelRequest<'_>| {
        request.history().push(Message::user(text.clone()));
    });
}
