use protolink::prelude::*;

#[derive(FromRef)]
struct App;

fn main() {
    let _ = App;
}
