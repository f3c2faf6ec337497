#![deny(private_interfaces)]

use protolink::prelude::*;

#[derive(Clone)]
struct Db;

#[before_model]
pub fn sync_hook(_request: &mut ModelRequest<'_>, _db: State<Db>) {} // wrong

#[before_complete]
pub async fn async_hook(_response: &mut FinalResponse<'_>, _db: State<Db>) {} // wrong

#[tool]
pub fn search(query: String, _db: State<Db>) -> String { // wrong
    query
}

fn main() {
    let _ = Agent::builder("a").state(Db).tools(tools![search]).hooks(hooks![sync_hook, async_hook]);
}
