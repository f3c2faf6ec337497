//! What the functions of hooks and tools may take and return.
//!
//! The attribute macros check a function by its types, through the traits here; an alias is as good as the name. You
//! need none of them in a program: they are what the compiler speaks of when a signature is wrong.
//!
//! | function | takes first | and then | returns |
//! | --- | --- | --- | --- |
//! | `#[before_model]` | `&mut ModelRequest<'_>` | any number of `State<T>` | `()` or `Result<(), E>` |
//! | `#[after_tool]` | `&mut ToolObservation<'_>` | any number of `State<T>` | `()` or `Result<(), E>` |
//! | `#[after_tool(tool = search)]` | `&mut ToolObservation<'_, O>`, with the output of `search` | any number of `State<T>` | `()` or `Result<(), E>` |
//! | `#[before_complete]` | `&mut FinalResponse<'_>`, or `&mut FinalResponse<'_, T>` for answers of type `T` | any number of `State<T>` | `()` or `Result<(), E>` |
//! | `#[tool]` | arguments, `State<T>` and `ToolContext` in any order | | `O` or `Result<O, E>` |
//!
//! ```
//! use protolink::prelude::*;
//!
//! /// Search the catalogue.
//! #[tool]
//! async fn search(
//!     query: String,
//!     State(lamps): State<Vec<String>>,
//! ) -> Result<Vec<String>, String> {
//!     Ok(lamps.into_iter().filter(|lamp| lamp.contains(&query)).collect())
//! }
//!
//! #[after_tool(tool = search)]
//! fn first_hit(observation: &mut ToolObservation<'_, Vec<String>>) {
//!     observation.result_mut().truncate(1);
//! }
//! ```
//!
//! All of them may be `async`. The error `E` is any `std::error::Error + Send + Sync + 'static`, a boxed one, `String` or
//! `&str`, and for a tool also [`ToolError`](crate::ToolError).

pub use crate::hook::{
    AddHook, AfterToolSubject, AnswerFor, AsyncHook, BeforeCompleteSubject, BeforeModelSubject, ChecksAnswers,
    FromState, HookOutput, HookParam, IntoHookError, ToolSubject,
};
pub use crate::lists::{HookList, ToolList};
pub use crate::state::WithoutState;
#[doc(inline)]
pub use crate::tool::{DefaultParameter, FromCall, IntoToolFailure, ToolParameter, ToolValue, UnnamedParameter};

// They are where a message of the compiler may point, and are called by generated code only.
#[doc(hidden)]
pub use crate::hook::{Code, HookFuture, lend_observation, lend_response, narrow_observation, narrow_response};

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    #[before_model]
    fn inside(_request: &mut ModelRequest<'_>) {}

    #[tool]
    fn search(query: String) -> String {
        query
    }

    #[test]
    fn the_macros_work_inside_their_own_crate() {
        let _ = Agent::builder("a").tool::<search>().hook(inside {});
    }
}
