use protolink::prelude::*;

struct Db;

#[derive(FromRef)]
struct App {
    db: Db,
}

fn main() {
    let _ = App { db: Db };
}
