use protolink::prelude::*;

#[after_tool]
mod hooks {}

fn main() {}
