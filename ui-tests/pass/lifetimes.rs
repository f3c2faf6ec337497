#![deny(warnings)]
//! Lifetimes may have names, and may be hidden.
use std::borrow::Cow;

use protolink::prelude::*;

#[before_model]
fn named<'a, 'r: 'a>(_request: &'a mut ModelRequest<'r>) {}

#[before_model]
fn bounded<'a, 'r>(_request: &'a mut ModelRequest<'r>)
where
    'r: 'a,
{
}

#[before_model]
async fn outer<'a>(_request: &'a mut ModelRequest<'_>) {}

#[before_model]
fn hidden(_request: &mut ModelRequest) {}

#[after_tool]
fn hidden_observation(_observation: &mut ToolObservation) {}

#[before_complete]
fn hidden_response(_response: &mut FinalResponse) {}

#[before_model]
fn static_state(_request: &mut ModelRequest<'_>, State(_name): State<&'static str>, _text: State<Cow<'static, str>>) {}

#[derive(FromRef)]
struct App {
    name: &'static str,
    text: Cow<'static, str>,
}

pub(crate) fn main() {
    let _ = Agent::builder("a").state(App { name: "x", text: "y".into() }).hooks(hooks![
        named,
        bounded,
        outer,
        hidden,
        hidden_observation,
        hidden_response,
        static_state,
    ]);
}
