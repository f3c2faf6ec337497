//! The names that a run and its parts go by.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The name of one run, unique in its store.
///
/// Any text serves; [`RunId::new`] makes one that nobody else has and that sorts by the time it was made.
/// Cloning shares the text.
///
/// ```
/// use protolink::ids::RunId;
///
/// let named = RunId::from("order-4711");
/// assert_eq!(named, "order-4711");
/// assert_ne!(RunId::new(), RunId::new());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct RunId(Arc<str>);

impl RunId {
    /// Makes a fresh random id (a UUID of version 7).
    #[must_use]
    pub fn new() -> Self {
        Self(uuid::Uuid::now_v7().to_string().into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A fresh random id, as [`RunId::new`] makes it.
impl Default for RunId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl AsRef<str> for RunId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for RunId {
    fn from(id: &str) -> Self {
        Self(id.into())
    }
}

impl From<String> for RunId {
    fn from(id: String) -> Self {
        Self(id.into())
    }
}

impl From<&String> for RunId {
    fn from(id: &String) -> Self {
        Self(id.as_str().into())
    }
}

impl From<&RunId> for RunId {
    fn from(id: &RunId) -> Self {
        id.clone()
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.as_str().to_owned()
    }
}

impl PartialEq<str> for RunId {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for RunId {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}
