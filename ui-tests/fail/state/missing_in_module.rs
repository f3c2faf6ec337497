use protolink::prelude::*;

#[derive(Clone)]
pub struct Db;

pub struct App;

#[hook_module]
mod rules {
    use protolink::prelude::*;

    use super::Db;

    #[before_model]
    pub fn needs_db(_request: &mut ModelRequest<'_>, State(_db): State<Db>) {}
}

fn main() {
    let _ = Agent::builder("a").state(App).hooks(rules::hooks);
}
