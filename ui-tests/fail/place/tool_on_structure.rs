use protolink::prelude::*;

#[tool]
struct Search;

fn main() {
    let _ = Search;
}
