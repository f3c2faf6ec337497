//! Why a scenario cannot be played as it is written.

use std::fmt;

/// A scenario that cannot be played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotHere {
    /// It does not compile in Rust, and that is the contract's wish: the scenario counts as kept.
    Unwritable(String),
    /// The interpreter does not know it: the scenario fails, so that nothing is skipped without a word.
    Unsupported(String),
}

impl NotHere {
    pub(crate) fn unsupported(what: impl fmt::Display) -> Self {
        Self::Unsupported(what.to_string())
    }

    pub(crate) fn unwritable(clause: &str, what: impl fmt::Display) -> Self {
        Self::Unwritable(format!("{what} [{clause}]"))
    }

    pub(crate) fn python_only(what: impl fmt::Display) -> Self {
        Self::Unwritable(format!("{what} is expressible in Python only"))
    }
}

impl fmt::Display for NotHere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unwritable(what) => write!(f, "unwritable: {what}"),
            Self::Unsupported(what) => write!(f, "unsupported: {what}"),
        }
    }
}

/// Anything that a test's own files or folders do wrong.
pub(crate) fn broken(error: impl fmt::Display) -> NotHere {
    NotHere::Unsupported(format!("the interpreter's own files: {error}"))
}
