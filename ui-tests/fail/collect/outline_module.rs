use protolink::prelude::*;

#[hook_module]
mod rules;

fn main() {}
