use std::cell::Cell;

use protolink::prelude::*;
use protolink::testing::RequestFixture;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    RequestFixture::new().with(|inner| Cell::from_mut(request).swap(Cell::from_mut(inner)));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
