#![deny(warnings)]
//! A function and its type exist under the same condition.
use protolink::prelude::*;

#[before_model]
#[cfg(any())]
fn off(_request: &mut ModelRequest<'_>) {}

#[cfg(any())]
#[before_model]
fn off(_request: &mut ModelRequest<'_>) {}

#[before_model]
fn off(_request: &mut ModelRequest<'_>) {}

#[before_model]
#[cfg(any())]
fn with_state(_request: &mut ModelRequest<'_>, _state: State<Missing>) {}

#[before_model]
fn with_state(_request: &mut ModelRequest<'_>, _state: State<u32>) {}

#[cfg_attr(all(), before_model)]
fn on(_request: &mut ModelRequest<'_>) {}

#[tool]
#[cfg(any())]
fn search(_missing: Missing) {}

#[tool]
#[cfg(not(target_os = "none"))]
fn search(query: String) -> String {
    query
}

pub(crate) fn main() {
    let _ = Agent::builder("a").state(1_u32).tools(tools![search]).hooks(hooks![off, with_state, on]);
}
