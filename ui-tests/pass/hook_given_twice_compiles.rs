#![deny(warnings)]
//! A hook given twice is refused when the agent is built.
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};

#[before_model]
fn one(_request: &mut ModelRequest<'_>) {}

pub(crate) fn main() {
    let model = ScriptedModel::new([Reply::text("x")]);
    assert!(Agent::builder("a").model(model).hooks(hooks![one, one]).build().is_err());
}
