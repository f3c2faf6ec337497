#![deny(warnings)]
//! A hook may stand wherever a function may.
use protolink::prelude::*;
use protolink::{ListFingerprint, hooks_fingerprint};

fn outer() -> ListFingerprint {
    #[derive(Clone)]
    struct Local;
    #[before_model]
    fn inner(_request: &mut ModelRequest<'_>) {}
    #[before_model]
    async fn inner_async(_request: &mut ModelRequest<'_>, _local: State<Local>) {}
    {
        #[before_model]
        fn inner(_request: &mut ModelRequest<'_>) {
            let _ = 1;
        }
        let _ = Agent::builder("a").hooks(hooks![inner]);
    }
    let _ = Agent::builder("a").state(Local).hooks(hooks![inner, inner_async]);
    hooks_fingerprint![inner, inner_async]
}

const IN_CONST: ListFingerprint = {
    #[before_model]
    fn in_const(_request: &mut ModelRequest<'_>) {}
    hooks_fingerprint![in_const]
};

struct Thing;

impl Drop for Thing {
    fn drop(&mut self) {
        #[before_model]
        fn in_method(_request: &mut ModelRequest<'_>) {}
        #[tool]
        fn in_method_too(query: String) -> String {
            query
        }
        let _ = Agent::builder("a").tools(tools![in_method_too]).hooks(hooks![in_method]);
    }
}

pub(crate) fn main() {
    drop(Thing);
    assert_ne!(outer(), IN_CONST);
}
