use protolink::prelude::*;

#[tool]
fn search(query: String, #[default(State(3))] State(limit): State<u32>) -> String {
    format!("{query}{limit}")
}

fn main() {
    let _ = Agent::builder("a").state(3_u32).tools(tools![search]);
}
