use protolink::prelude::*;

#[before_model(priority = 3, tool = search, timeout = "soon")]
fn hook(_request: &mut ModelRequest<'_>) -> impl Future<Output = ()> {
    async {}
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
