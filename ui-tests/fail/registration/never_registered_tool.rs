#![deny(dead_code)]

use protolink::prelude::*;

#[tool]
async fn never_registered(query: String) -> String {
    query
}

fn main() {}
