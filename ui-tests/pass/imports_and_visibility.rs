#![deny(warnings)]
//! An import of the function is an import of the hook, under any name.
use protolink::prelude::*;

mod a {
    use protolink::prelude::*;

    #[before_model]
    pub(crate) fn hook(_request: &mut ModelRequest<'_>) {}

    #[before_model]
    pub(self) fn private(_request: &mut ModelRequest<'_>) {}

    #[before_model]
    pub(crate) fn in_crate(_request: &mut ModelRequest<'_>) {
        let _ = Agent::builder("a").hooks(hooks![private]);
    }

    pub(crate) mod deeper {
        use protolink::prelude::*;

        #[before_model]
        pub(in super::super::a) fn in_a(_request: &mut ModelRequest<'_>) {}

        #[before_model]
        pub(super) fn in_super(_request: &mut ModelRequest<'_>) {
            let _ = Agent::builder("a").hooks(hooks![in_a]);
        }
    }

    pub(crate) fn registered() -> protolink::AgentBuilder {
        Agent::builder("a").hooks(hooks![deeper::in_a, deeper::in_super, private])
    }

    pub(crate) mod again {
        pub(crate) use super::hook as renamed;
    }
}

mod b {
    pub(crate) use super::a::*;
}

use a::again::renamed as third;
use b::hook;

pub(crate) fn main() {
    let _ = a::registered();
    let _ = Agent::builder("a").hooks(hooks![hook]);
    let _ = Agent::builder("a").hooks(hooks![third, self::a::in_crate]);
    let _ = Agent::builder("a").hooks(hooks![self::b::hook]);
}
