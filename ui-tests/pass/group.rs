#![deny(warnings)]
//! A group is built with the builder's own methods.
use protolink::AgentHooks;
use protolink::prelude::*;

#[before_model]
fn one(_request: &mut ModelRequest<'_>) {}

#[before_complete]
async fn two(_response: &mut FinalResponse<'_>) {}

fn house_rules<S: Send + Sync + 'static>() -> AgentHooks<S> {
    AgentHooks::new().hooks(hooks![one]).hook(two {})
}

pub(crate) fn main() {
    let _ = Agent::builder("a").group(house_rules());
    let _ = Agent::builder("a").state(1_u32).group(house_rules());
}
