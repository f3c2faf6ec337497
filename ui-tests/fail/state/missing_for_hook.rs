use protolink::prelude::*;

#[derive(Clone)]
struct Db;

#[derive(FromRef)]
struct App {
    limit: u32,
}

#[before_model]
fn fine(_request: &mut ModelRequest<'_>, State(_limit): State<u32>) {}

#[before_model]
fn needs_db(_request: &mut ModelRequest<'_>, State(_db): State<Db>) {}

fn main() {
    let _ = Agent::builder("a").state(App { limit: 3 }).hooks(hooks![fine, needs_db]);
}
