use protolink::prelude::*;

#[before_model]
fn request() {} // wrong

#[after_tool]
async fn observation() {} // wrong

#[before_complete]
fn response() {} // wrong

fn main() {
    let _ = Agent::builder("a").hooks(hooks![request, observation, response]);
}
