#![deny(warnings)]
//! The user's attributes stay, and mean what they mean.
use protolink::prelude::*;

/// Docs.
/** More. */
#[doc = "And more."]
#[inline]
#[must_use = "reason"]
#[track_caller]
#[allow(unused_variables, reason = "test")]
#[before_model]
fn above(request: &mut ModelRequest<'_>) -> Result<(), String> {
    Ok(())
}

#[before_model]
/// Docs.
#[cold]
#[expect(unused_variables, reason = "test")]
fn below(request: &mut ModelRequest<'_>) -> Result<(), String> {
    Ok(())
}

#[tool]
#[cold]
#[expect(unused_variables, reason = "test")]
/// Searches.
fn search(query: String) {}

pub(crate) fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![above, below]);
}
