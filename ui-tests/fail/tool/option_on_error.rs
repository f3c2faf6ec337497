use protolink::prelude::*;

#[tool(on_error = "ignore")]
fn search(query: String) -> String {
    query
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
