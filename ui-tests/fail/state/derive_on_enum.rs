use protolink::prelude::*;

#[derive(FromRef)]
enum App {
    Small,
}

fn main() {
    let _ = App::Small;
}
