use protolink::prelude::*;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) -> impl Future<Output = ()> {
    async {}
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
