use protolink::prelude::*;
use serde::Serialize;

#[derive(Serialize)]
struct Hits;

#[tool]
async fn search(_query: String) -> Result<Hits, ToolError> {
    Ok(Hits)
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
