use protolink::prelude::*;
use protolink::testing::RequestFixture;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let (mut history, _) = request.parts();
    RequestFixture::new().with(|inner| {
        let (mut other, _) = inner.parts();
        std::mem::swap(&mut history, &mut other);
    });
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
