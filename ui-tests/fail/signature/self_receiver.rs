use protolink::prelude::*;

struct Rules;

impl Rules {
    #[before_model]
    fn hook(&self, _request: &mut ModelRequest<'_>) {}
}

fn main() {
    let _ = Rules;
}
