use protolink::prelude::*;

#[before_model]
#[tokio::test]
async fn hook() {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
