use protolink::prelude::*;
use protolink::testing::RequestFixture;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    RequestFixture::new().with(|inner| std::mem::swap(request, inner));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
