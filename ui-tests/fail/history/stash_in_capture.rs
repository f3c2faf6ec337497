use protolink::testing::RequestFixture;

fn main() {
    let mut kept = None;
    RequestFixture::new().with(|request| kept = Some(request));
    let _ = kept;
}
