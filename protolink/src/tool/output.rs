//! What a tool may return.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{IntoToolFailure, ToolFailure};
use crate::value::to_value_of;

/// What a tool may return: a value that goes to JSON and back, or `Result` of one and an error.
///
/// `FALLIBLE` says which of the two a type is; [`OutputKind`] finds it by type, so that aliases of `Result` work and a
/// `Result` that could itself be JSON is still a `Result`.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "tools return a value, or `Result` of a value and an error",
    note = "the value needs `serde::Serialize` and `serde::Deserialize`: after a resume it comes out of the receipt's JSON"
)]
pub trait ToolOutput<const FALLIBLE: bool> {
    /// The value's type: what an `#[after_tool(tool = ..)]` hook is given.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// The value as JSON, exactly.
    #[doc(hidden)]
    fn into_tool_result(self) -> Result<Value, ToolFailure>;
}

#[diagnostic::do_not_recommend]
impl<O: Serialize + DeserializeOwned + Send + 'static> ToolOutput<false> for O {
    type Output = O;

    fn into_tool_result(self) -> Result<Value, ToolFailure> {
        Ok(to_value_of(self)?)
    }
}

#[diagnostic::do_not_recommend]
impl<O: Serialize + DeserializeOwned + Send + 'static, E: IntoToolFailure> ToolOutput<true> for Result<O, E> {
    type Output = O;

    fn into_tool_result(self) -> Result<Value, ToolFailure> {
        Ok(to_value_of(self.map_err(IntoToolFailure::into_tool_failure)?)?)
    }
}

/// Tells a `Result` from every other type: its own constant is found before the one of [`PlainOutput`].
#[doc(hidden)]
#[derive(Debug)]
pub struct OutputKind<T>(PhantomData<T>);

impl<O, E> OutputKind<Result<O, E>> {
    pub const FALLIBLE: bool = true;
}

#[doc(hidden)]
pub trait PlainOutput {
    const FALLIBLE: bool = false;
}

impl<T> PlainOutput for OutputKind<T> {}
