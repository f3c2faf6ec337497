use protolink::prelude::*;

#[tool(type = str)] // wrong
fn text(query: String) -> String {
    query
}

#[tool]
fn alloc(query: String) -> String { // wrong
    query
}

fn main() {}
