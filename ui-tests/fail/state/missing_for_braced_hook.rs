use protolink::prelude::*;

#[derive(Clone)]
struct Db;

struct App;

#[after_tool]
async fn needs_db(_observation: &mut ToolObservation<'_>, State(_db): State<Db>) {}

fn main() {
    let _ = Agent::builder("a").state(App).hook(needs_db {});
}
