use protolink::prelude::*;

#[derive(FromRef)]
struct App {
    short: u32,
    long: u32,
}

fn main() {
    let _ = App { short: 1, long: 2 };
}
