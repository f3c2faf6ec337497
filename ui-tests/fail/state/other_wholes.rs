use std::sync::Arc;

use protolink::AgentHooks;
use protolink::prelude::*;

#[derive(Clone)]
struct Db;

#[derive(FromRef)]
struct App {
    db: Db,
}

#[before_model]
fn needs_db(_request: &mut ModelRequest<'_>, _db: State<Db>) {}

#[before_complete]
async fn needs_all(_response: &mut FinalResponse<'_>, _app: State<App>) {}

#[after_tool]
fn maybe(_observation: &mut ToolObservation<'_>, _db: State<Option<Db>>) {}

fn rules<S: Send + Sync + 'static>() -> AgentHooks<S> {
    AgentHooks::new().hooks(hooks![needs_db]) // wrong
}

fn main() {
    let app = App { db: Db };
    let _ = Agent::builder("a").state(Arc::new(app)).hooks(hooks![needs_db]); // wrong
    let _ = Agent::builder("a").state((Db, 3)).hooks(hooks![needs_db]); // wrong
    let _ = Agent::builder("a").state(App { db: Db }).hooks(hooks![needs_all]); // wrong
    let _ = Agent::builder("a").state(App { db: Db }).hooks(hooks![maybe]); // wrong
}
