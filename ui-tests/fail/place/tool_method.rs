use protolink::prelude::*;

struct Catalogue;

impl Catalogue {
    #[tool]
    async fn search(&self, query: String) -> String {
        query
    }
}

fn main() {
    let _ = Catalogue;
}
