use protolink::prelude::*;

#[hook_module(order = "source")]
mod rules {}

fn main() {}
