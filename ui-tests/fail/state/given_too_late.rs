use protolink::prelude::*;

#[derive(Clone)]
struct Db;

#[derive(FromRef)]
struct App {
    db: Db,
}

#[before_model]
fn needs_db(_request: &mut ModelRequest<'_>, State(_db): State<Db>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![needs_db]).state(App { db: Db });
}
