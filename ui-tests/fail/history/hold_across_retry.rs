use protolink::testing::RequestFixture;

fn main() {
    let mut first = None;
    for attempt in 0..2 {
        RequestFixture::new().with(|request| {
            if attempt == 0 {
                first = Some(request.history());
            }
        });
    }
    drop(first);
}
