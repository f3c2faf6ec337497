//! What a tool may return.

use std::convert::Infallible;
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::definition::Tool;
use super::error::{IntoToolFailure, ToolFailure};
use crate::value::{ValueError, to_value_of};

/// A value that a tool can give back: it goes to JSON, and comes out of it again after a resume.
///
/// ```
/// use protolink::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Page {
///     title: String,
/// }
///
/// /// Find a page.
/// #[tool]
/// fn find(title: String) -> Page {
///     Page { title }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "a tool returns a value that goes to JSON and back, or `Result` of one and an error",
    note = "derive `serde::Serialize` and `serde::Deserialize` for `{Self}`: after a resume it comes out of the receipt's JSON"
)]
pub trait ToolValue: Sized + Send + 'static {
    /// The value as JSON, exactly.
    #[doc(hidden)]
    fn into_json(self) -> Result<Value, ValueError>;

    /// The value out of JSON.
    #[doc(hidden)]
    fn from_json(json: &Value) -> Result<Self, ValueError>;
}

// `Serialize` and `Deserialize` are no supertraits: each would be an error of its own, beside the one that says it all.
#[diagnostic::do_not_recommend]
impl<O: Serialize + DeserializeOwned + Send + 'static> ToolValue for O {
    fn into_json(self) -> Result<Value, ValueError> {
        to_value_of(self)
    }

    fn from_json(json: &Value) -> Result<Self, ValueError> {
        Self::deserialize(json).map_err(|error| ValueError::misfit(&error))
    }
}

/// Takes a return type apart: a `Result` into its two, any other type into itself and an error that cannot be.
///
/// `FALLIBLE` says which of the two a type is; [`OutputKind`] finds it by type, so that aliases of `Result` work, and a
/// `Result` that could itself be JSON is still a `Result`.
#[doc(hidden)]
pub trait ToolOutput<const FALLIBLE: bool> {
    type Output;
    type Error;
    fn split(self) -> Result<Self::Output, Self::Error>;
}

impl<O> ToolOutput<false> for O {
    type Output = O;
    type Error = Infallible;

    fn split(self) -> Result<O, Infallible> {
        Ok(self)
    }
}

impl<O, E> ToolOutput<true> for Result<O, E> {
    type Output = O;
    type Error = E;

    fn split(self) -> Self {
        self
    }
}

/// What a call of the tool `T` comes to, as JSON, exactly.
#[doc(hidden)]
pub fn into_tool_result<T: Tool, E: IntoToolFailure>(result: Result<T::Output, E>) -> Result<Value, ToolFailure> {
    Ok(result.map_err(IntoToolFailure::into_tool_failure)?.into_json()?)
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
