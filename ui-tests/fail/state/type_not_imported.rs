use protolink::prelude::*;

mod storage {
    #[derive(Clone)]
    pub struct Db;
}

#[before_model]
fn hook(_request: &mut ModelRequest<'_>, _db: State<Db>) {}

fn main() {
    let _ = Agent::builder("a").state(storage::Db).hooks(hooks![hook]);
}
