use protolink::prelude::*;

#[tool]
fn search(query: String) -> impl Future<Output = String> {
    async move { query }
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
