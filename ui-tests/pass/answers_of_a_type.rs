#![deny(warnings)]
//! Hooks on typed answers are registered where the answers are of that type.
use protolink::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Plan {
    steps: u32,
}

type Answer<'a, 'r> = &'a mut FinalResponse<'r, Plan>;

#[before_complete]
fn typed(response: &mut FinalResponse<'_, Plan>) {
    response.answer_mut().steps += 1;
}

#[before_complete]
async fn by_alias(response: Answer<'_, '_>) -> Result<(), String> {
    if response.answer().steps == 0 { Err("no steps".to_owned()) } else { Ok(()) }
}

#[before_complete]
fn untyped(response: &mut FinalResponse<'_>) {
    let _ = response.content();
}

#[before_model]
fn other_stage(_request: &mut ModelRequest<'_>) {}

pub(crate) fn main() {
    let _ = Agent::builder("a").answer::<Plan>().hooks(hooks![typed, by_alias, untyped, other_stage]);
}
