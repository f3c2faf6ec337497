use protolink::prelude::*;

#[tool]
fn search<T: Send>(query: T) -> String {
    let _ = query;
    String::new()
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
