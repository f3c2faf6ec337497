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
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![off, on]);
}
