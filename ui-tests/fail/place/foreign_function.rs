use protolink::prelude::*;

unsafe extern "C" {
    #[before_model]
    fn hook(_request: &mut ModelRequest<'_>);
}

fn main() {}
