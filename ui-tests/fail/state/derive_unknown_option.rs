use protolink::prelude::*;

#[derive(FromRef)]
struct App {
    #[from_ref(skp)]
    limit: u32,
}

fn main() {
    let _ = App { limit: 1 };
}
