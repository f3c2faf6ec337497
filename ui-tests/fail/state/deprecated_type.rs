#![deny(deprecated)]

use protolink::prelude::*;

#[deprecated(note = "use `Db`")]
#[derive(Clone)]
struct Old;

#[before_model]
fn sync_hook(_request: &mut ModelRequest<'_>, _old: State<Old>) {} // wrong

#[before_model]
async fn async_hook(_request: &mut ModelRequest<'_>, _old: State<Old>) {} // wrong

#[tool]
fn search(query: String, _old: State<Old>) -> String { // wrong
    query
}

#[allow(deprecated)]
fn main() {
    let _ = Agent::builder("a").state(Old).tools(tools![search]).hooks(hooks![sync_hook, async_hook]);
}
