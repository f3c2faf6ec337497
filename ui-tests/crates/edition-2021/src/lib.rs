//! The macros in edition 2021.

#![deny(warnings)]

use protolink::prelude::*;
use protolink::AgentBuilder;

#[path = "../../any_edition.rs"]
mod any_edition;

pub use any_edition::*;

/// An async closure that is still to be written; edition 2018 has none.
#[must_use]
pub fn unwritten_async(builder: AgentBuilder<u32>) -> AgentBuilder<u32> {
    builder.before_complete("async", async |_response: &mut FinalResponse<'_>| todo!())
}
