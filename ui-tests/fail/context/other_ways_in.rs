use std::sync::Arc;

use protolink::RunContext;
use protolink::prelude::*;

#[before_model]
fn request(request: &mut ModelRequest<'_>) {
    Arc::get_mut(request.context()); // wrong
    let _: &mut RunContext = request.context(); // wrong
    let _ = request.context; // wrong
    request.context().set_agent("other"); // wrong
    request.step() = 3; // wrong
}

#[after_tool]
fn observation(observation: &mut ToolObservation<'_>) {
    observation.context().cancel(); // wrong
    observation.context().agent().invoke("x"); // wrong
}

#[before_complete]
fn response(response: &mut FinalResponse<'_>) {
    let _ = RunContext::default(); // wrong
    let _ = RunContext { agent: "other".to_owned(), ..response.context().clone() }; // wrong
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![request, observation, response]);
}
