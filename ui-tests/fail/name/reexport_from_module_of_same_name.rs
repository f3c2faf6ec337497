pub mod normalize {
    use protolink::prelude::*;

    #[before_model]
    pub fn normalize(_request: &mut ModelRequest<'_>) {}
}

pub use normalize::normalize;

fn main() {}
