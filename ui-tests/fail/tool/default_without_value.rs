use protolink::prelude::*;

#[tool]
fn search(query: String, #[default] limit: u32) -> String {
    format!("{query}{limit}")
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
