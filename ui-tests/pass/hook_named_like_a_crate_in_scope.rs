#![deny(warnings)]
//! A hook may have the name of a crate or macro that its module does not use.
mod rules {
    use protolink::prelude::*;

    #[before_model]
    pub(crate) fn log(_request: &mut ModelRequest<'_>) {}

    #[before_model]
    pub(crate) fn serde(_request: &mut ModelRequest<'_>) {}

    #[before_model]
    pub(crate) fn hooks(_request: &mut ModelRequest<'_>) {}

    #[before_model]
    pub(crate) fn before_model(_request: &mut ModelRequest<'_>) {}
}

use protolink::prelude::*;

pub(crate) fn main() {
    let _ = Agent::builder("a").hooks(hooks![rules::log, rules::serde, rules::hooks, rules::before_model]);
}
