use std::rc::Rc;

use protolink::prelude::*;

async fn wait() {}

#[tool]
async fn search(query: String) -> String {
    let query = Rc::new(query);
    wait().await;
    query.as_str().to_owned()
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
