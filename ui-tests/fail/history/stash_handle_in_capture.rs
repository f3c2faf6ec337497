use protolink::testing::RequestFixture;

fn main() {
    let mut kept: Option<protolink::HistoryMut<'_>> = None;
    RequestFixture::new().with(|request| kept = Some(request.history()));
    let _ = kept;
}
