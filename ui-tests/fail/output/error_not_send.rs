use std::rc::Rc;

use protolink::prelude::*;

#[derive(Debug)]
struct Oops(Rc<u32>);

impl std::fmt::Display for Oops {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for Oops {}

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) -> Result<(), Oops> {
    Ok(())
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
