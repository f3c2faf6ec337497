use std::rc::Rc;

use protolink::prelude::*;

async fn wait() {}

#[before_model]
async fn hook(request: &mut ModelRequest<'_>) {
    let text = Rc::new("x".to_owned());
    wait().await;
    request.history().push(Message::user(text.as_str()));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
