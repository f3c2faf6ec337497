#![deny(dead_code)]

use protolink::prelude::*;

#[before_complete]
async fn never_registered(_response: &mut FinalResponse<'_>, State(_limit): State<u32>) {}

fn main() {}
