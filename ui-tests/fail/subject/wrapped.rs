use std::any::Any;
use std::pin::Pin;

use protolink::prelude::*;

#[before_model]
fn twice(_request: &mut &mut ModelRequest<'_>) {} // wrong

#[before_model]
fn any(_request: &mut dyn Any) {} // wrong

#[after_tool]
fn boxed(_observation: Box<ToolObservation<'_>>) {} // wrong

#[after_tool]
async fn pinned(_observation: Pin<&mut ToolObservation<'_>>) {} // wrong

#[before_complete]
fn maybe(_response: Option<&mut FinalResponse<'_>>) {} // wrong

#[before_complete]
fn tuple((_response, _limit): (&mut FinalResponse<'_>, State<u32>)) {} // wrong

#[before_model]
fn pointer(_request: *mut ModelRequest<'_>) {} // wrong

#[before_model]
async fn messages(_messages: &mut Vec<Message>) {} // wrong

#[before_complete]
fn agent(_agent: &mut Agent) {} // wrong

fn main() {
    let _ = Agent::builder("a")
        .hooks(hooks![twice, any, boxed, pinned, maybe, tuple, pointer, messages, agent]);
}
