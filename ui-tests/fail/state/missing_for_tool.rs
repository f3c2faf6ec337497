use protolink::prelude::*;

#[derive(Clone)]
struct Db;

struct App;

#[tool]
async fn search(query: String, State(_db): State<Db>) -> String {
    query
}

fn main() {
    let _ = Agent::builder("a").state(App).tools(tools![search]);
}
