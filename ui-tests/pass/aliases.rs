#![deny(warnings)]
//! An alias is as good as the name.
use protolink::prelude::*;

type Request<'r> = ModelRequest<'r>;
type Lent<'a, 'r> = &'a mut ModelRequest<'r>;
type Checked = Result<(), String>;
type Limit = State<u32>;
type L = u32;
type Response<'a, 'r> = &'a mut FinalResponse<'r>;
type Searched<T> = Result<T, std::io::Error>;
type Maybe = Option<u32>;

#[before_model]
fn one(_request: &mut Request<'_>) -> Checked {
    Ok(())
}

#[before_model]
fn two(_request: Lent<'_, '_>, State(_limit): Limit) {}

#[before_complete]
fn three(_response: Response<'_, '_>) {}

#[before_model]
fn one_letter<'a>(_request: &'a mut ModelRequest<'_>, State(_limit): State<L>) {}

#[tool]
fn letter(limit: L) -> L {
    limit
}

#[tool]
fn search(query: String, limit: Maybe, State(_limit): Limit) -> Searched<String> {
    Ok(format!("{query}{limit:?}"))
}

#[after_tool(tool = search)]
fn four(observation: &mut ToolObservation<'_, String>) {
    observation.result_mut().clear();
}

#[derive(FromRef)]
struct App {
    limit: u32,
}

pub(crate) fn main() {
    let _ = Agent::builder("a")
        .state(App { limit: 3 })
        .tools(tools![search, letter])
        .hooks(hooks![one, two, one_letter, three, four]);
}
