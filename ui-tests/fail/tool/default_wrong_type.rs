use protolink::prelude::*;

#[tool]
fn search(query: String, #[default("ten")] limit: u32) -> String {
    format!("{query}{limit}")
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
