use protolink::prelude::*;
use protolink::testing::RequestFixture;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let mut tools = request.tools();
    RequestFixture::new().with(|other| std::mem::swap(&mut tools, &mut other.tools()));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
