use protolink::prelude::*;

fn plain(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = plain;
    let _ = Agent::builder("a").hooks(hooks![plain]);
}
