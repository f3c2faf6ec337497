use std::pin::Pin;

use protolink::prelude::*;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async {})
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
