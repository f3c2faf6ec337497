use protolink::prelude::*;

trait Rules {
    #[before_model]
    fn hook(_request: &mut ModelRequest<'_>) {}
}

fn main() {}
