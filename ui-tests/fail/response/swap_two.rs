use protolink::prelude::*;
use protolink::testing::ResponseFixture;

#[before_complete]
fn hook(response: &mut FinalResponse<'_>) {
    ResponseFixture::text("other").with(|other| std::mem::swap(response, other));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
