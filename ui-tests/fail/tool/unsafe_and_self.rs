use protolink::prelude::*;

struct Catalogue;

impl Catalogue {
    #[tool]
    unsafe fn search(self) -> String {
        String::new()
    }
}

fn main() {
    let _ = Catalogue;
}
