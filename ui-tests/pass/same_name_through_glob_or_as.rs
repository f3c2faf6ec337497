#![deny(warnings)]
//! What a plain function could do by a re-export of its own name, a hook does by a glob or by `as`.
mod normalize {
    use protolink::prelude::*;

    #[before_model]
    pub(crate) fn normalize(_request: &mut ModelRequest<'_>) {}
}

mod api {
    pub(crate) use super::normalize::normalize as normalize_hook;
}

use protolink::prelude::*;

pub(crate) fn main() {
    let _ = Agent::builder("a").hooks(hooks![api::normalize_hook]);
}
