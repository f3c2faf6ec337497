use protolink::prelude::*;
use protolink::testing::RequestFixture;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    request.history().edit(0, |message| {
        RequestFixture::new().with(|inner| {
            inner.history().edit(0, |other| std::mem::swap(message, other));
        });
    });
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
