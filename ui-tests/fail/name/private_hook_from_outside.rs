mod rules {
    use protolink::prelude::*;

    #[before_model]
    fn hook(_request: &mut ModelRequest<'_>) {}
}

use protolink::prelude::*;

fn main() {
    let _ = Agent::builder("a").hooks(hooks![rules::hook]);
}
