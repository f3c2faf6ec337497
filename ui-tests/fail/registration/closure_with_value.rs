use protolink::prelude::*;

fn main() {
    let _ = Agent::builder("a").before_model("is_short", |request: &mut ModelRequest<'_>| request.history().len() < 3);
}
