use protolink::prelude::*;
use protolink::testing::RequestFixture;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let mut outer = request.history();
    RequestFixture::new().with(|inner| std::mem::swap(&mut outer, &mut inner.history()));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
