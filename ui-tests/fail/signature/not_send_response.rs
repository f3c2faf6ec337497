use std::rc::Rc;

use protolink::prelude::*;

async fn wait() {}

#[before_complete]
async fn hook(response: &mut FinalResponse<'_>) {
    let text = Rc::new("x".to_owned());
    wait().await;
    response.set_text(text.as_str());
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
