use protolink::prelude::*;

#[derive(FromRef)]
struct App<T> {
    part: T,
}

fn main() {
    let _ = App { part: 1 };
}
