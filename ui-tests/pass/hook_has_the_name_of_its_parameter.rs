#![deny(warnings)]
//! The generated code has no name that meets the user's.
use protolink::prelude::*;

#[before_model]
fn request(request: &mut ModelRequest<'_>) {
    request.history().push(Message::user("x"));
}

#[before_model]
fn subject(_request: &mut ModelRequest<'_>, State(state): State<u32>) {
    let _ = state;
}

#[before_model]
async fn state(_request: &mut ModelRequest<'_>, State(subject): State<u32>) {
    let _ = subject;
}

#[before_complete]
async fn narrowed(_response: &mut FinalResponse<'_>, State(state0): State<u32>) {
    let _ = state0;
}

#[tool]
async fn call(input: String, state: u32, result: bool) -> String {
    format!("{input}{state}{result}")
}

#[tool]
fn schema(schema: String, arguments: String, #[default(1)] call: u32) -> String {
    format!("{schema}{arguments}{call}")
}

pub(crate) fn main() {
    let fruits = 3;
    let request_count = fruits + 1;
    let _ = request_count;
    let _ =
        Agent::builder("a").state(3_u32).tools(tools![call, schema]).hooks(hooks![request, subject, state, narrowed]);
}
