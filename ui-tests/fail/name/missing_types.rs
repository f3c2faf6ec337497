//! A type that exists nowhere is missed once, with what the compiler suggests of it, wherever it stands.
use std::sync::Arc;

use protolink::prelude::*;

#[before_model]
fn of_state(_request: &mut ModelRequest<'_>, _state: State<Database>) {} // wrong

#[before_model]
async fn within_state(_request: &mut ModelRequest<'_>, _state: State<Arc<Vec<Database>>>) {} // wrong

#[before_model]
fn of_a_trait<'a>(_request: &'a mut ModelRequest<'_>, _state: State<Arc<dyn Iterator<Item = Database> + Send + Sync>>) { // wrong
}

#[before_model]
fn of_a_function(_request: &mut ModelRequest<'_>, _state: State<Arc<dyn Fn(Database) + Send + Sync>>) {} // wrong

#[before_model]
fn of_what_a_function_returns(_request: &mut ModelRequest<'_>, _state: State<Arc<dyn Fn() -> Database + Send + Sync>>) { // wrong
}

#[before_model]
fn of_a_letter(_request: &mut ModelRequest<'_>, _state: State<B>) {} // wrong

#[after_tool]
async fn of_an_error(_observation: &mut ToolObservation<'_>) -> Result<(), Failure> { // wrong
    Ok(())
}

#[after_tool(tool = argument)]
fn of_an_output(_observation: &mut ToolObservation<'_, Vec<Output>>) {} // wrong

#[before_complete]
fn of_an_answer(_response: &mut FinalResponse<'_, Verdict>) {} // wrong

#[before_complete]
async fn of_a_later_answer(_response: &mut FinalResponse<'_, Verdict>) {} // wrong

#[tool]
fn argument(_limit: Option<Limit>) {} // wrong

#[tool]
fn letter(_limit: B) {} // wrong

#[tool]
async fn output(_query: String) -> Result<Output, String> { // wrong
    Err(String::new())
}

#[before_model]
fn of_itself(_request: &mut ModelRequest<'_>, _state: State<Self>) {} // wrong

#[before_model]
fn left_out(_request: &mut ModelRequest<'_>, _state: State<Vec<_>>) {} // wrong

#[tool]
fn argument_left_out(_limit: _) {} // wrong

fn main() {
    let builder = Agent::builder("a").tools(tools![argument, letter, output, argument_left_out]);
    let builder = builder.hooks(hooks![of_state, within_state, of_a_trait, of_a_function, of_what_a_function_returns, of_a_letter, of_an_error]);
    let _ = builder.hooks(hooks![of_an_output, of_an_answer, of_a_later_answer, of_itself, left_out]);
}
