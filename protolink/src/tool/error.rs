//! How a tool says that it did not succeed.

use std::fmt;

use crate::hook::BoxError;
use crate::value::ValueError;

/// What a tool may fail with, when it has something to say to the loop.
///
/// Any other error type will do too; `ToolError` takes them by `?`.
///
/// ```
/// use protolink::prelude::*;
///
/// /// Halve a number.
/// #[tool]
/// fn halve(number: i64) -> Result<i64, ToolError> {
///     if number % 2 == 0 {
///         Ok(number / 2)
///     } else {
///         Err(ToolError::rejected("the number must be even"))
///     }
/// }
///
/// /// Give money back.
/// #[tool(capability = "money")]
/// async fn refund(cents: u64) -> Result<String, ToolError> {
///     if cents > 100_000 {
///         // The model is told, and may try another way.
///         return Err(ToolError::reported("the bank takes no such sum"));
///     }
///     match bank(cents).await {
///         Ok(receipt) => Ok(receipt),
///         // Was it paid? Nobody does it again before somebody has looked.
///         Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {
///             Err(ToolError::uncertain(error))
///         }
///         // The run fails, as by `?`.
///         Err(error) => Err(ToolError::failed(error)),
///     }
/// }
/// # async fn bank(_cents: u64) -> std::io::Result<String> { Ok(String::new()) }
/// ```
pub enum ToolError {
    /// Nothing happened; the model is told why and can correct itself.
    Rejected(String),
    /// The tool failed: the run fails, or the model is told, as the tool's `on_error` says.
    Failed(BoxError),
    /// The tool failed, and the model is told, whatever the tool's `on_error` says.
    Reported(BoxError),
    /// Nobody knows whether the effect happened: no receipt is written, the run fails, and a resume refuses until the
    /// action is reconciled (contract D3). Where the tool's `on_error` says `Report`, the model is told instead.
    Uncertain(BoxError),
}

impl ToolError {
    /// Nothing happened; the model is told why and can correct itself.
    #[must_use]
    pub fn rejected(reason: impl Into<String>) -> Self {
        Self::Rejected(reason.into())
    }

    /// The tool failed.
    #[must_use]
    pub fn failed(error: impl Into<BoxError>) -> Self {
        Self::Failed(error.into())
    }

    /// The tool failed, and the model is told.
    #[must_use]
    pub fn reported(error: impl Into<BoxError>) -> Self {
        Self::Reported(error.into())
    }

    /// Nobody knows whether the effect happened: an answer never came, for example.
    #[must_use]
    pub fn uncertain(error: impl Into<BoxError>) -> Self {
        Self::Uncertain(error.into())
    }
}

// Not an `Error` itself, so that every error converts into it by `?`.
impl<E: std::error::Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(reason) => write!(f, "rejected: {reason}"),
            Self::Failed(error) | Self::Reported(error) | Self::Uncertain(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(reason) => f.debug_tuple("Rejected").field(reason).finish(),
            Self::Failed(error) => f.debug_tuple("Failed").field(error).finish(),
            Self::Reported(error) => f.debug_tuple("Reported").field(error).finish(),
            Self::Uncertain(error) => f.debug_tuple("Uncertain").field(error).finish(),
        }
    }
}

/// What the loop makes of a call that did not succeed.
#[doc(hidden)]
#[derive(Debug)]
pub enum ToolFailure {
    /// The arguments do not fit; nothing happened.
    BadArguments(String),
    /// The tool says that nothing happened.
    Rejected(String),
    /// The tool failed.
    Failed(BoxError),
    /// The tool failed, and the model is told.
    Reported(BoxError),
    /// Nobody knows whether its effect happened.
    Uncertain(BoxError),
    /// The tool succeeded with something that cannot be stored exactly.
    Unkept(ValueError),
}

impl From<ValueError> for ToolFailure {
    fn from(error: ValueError) -> Self {
        Self::Unkept(error)
    }
}

/// What a tool may return as its error: [`ToolError`], any `std::error::Error + Send + Sync + 'static`, a boxed one,
/// `String` or `&str`.
///
/// ```
/// use protolink::prelude::*;
///
/// /// Read a page.
/// #[tool]
/// fn read(path: String) -> Result<String, std::io::Error> {
///     std::fs::read_to_string(path)
/// }
///
/// /// Find a page.
/// #[tool]
/// fn find(title: String) -> Result<String, String> {
///     Err(format!("there is no page `{title}`"))
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "not an error",
    note = "implement `std::error::Error` for `{Self}`, or return `Result<_, ToolError>`; what is boxed is `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoToolFailure {
    /// The failure as the loop carries it.
    #[doc(hidden)]
    fn into_tool_failure(self) -> ToolFailure;
}

impl IntoToolFailure for ToolError {
    fn into_tool_failure(self) -> ToolFailure {
        match self {
            Self::Rejected(reason) => ToolFailure::Rejected(reason),
            Self::Failed(error) => ToolFailure::Failed(error),
            Self::Reported(error) => ToolFailure::Reported(error),
            Self::Uncertain(error) => ToolFailure::Uncertain(error),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> IntoToolFailure for E {
    fn into_tool_failure(self) -> ToolFailure {
        ToolFailure::Failed(self.into())
    }
}
