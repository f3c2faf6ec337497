use protolink::prelude::*;
use protolink::testing::RequestFixture;

#[before_model]
async fn hook(request: &mut ModelRequest<'_>) {
    request.history().push(Message::user("x"));
}

fn main() {
    let future = RequestFixture::new().with(|request| hook(request));
    drop(future);
}
