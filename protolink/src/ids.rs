//! Names that the loop gives to runs, actions and messages.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Declares a cheap-to-clone text identifier with the conversions that callers expect.
macro_rules! text_id {
    ($(#[$docs:meta])* $name:ident) => {
        $(#[$docs])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The identifier as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl From<&String> for $name {
            fn from(text: &String) -> Self {
                Self(text.as_str().into())
            }
        }

        impl From<&$name> for $name {
            fn from(id: &$name) -> Self {
                id.clone()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }
    };
}

text_id! {
    /// Names one run, in the store, in events and in errors.
    ///
    /// ```
    /// use protolink::RunId;
    /// let id = RunId::from("order-17");
    /// assert_eq!(id, "order-17");
    /// ```
    RunId
}

text_id! {
    /// Names one prepared tool call for good: the key under which a tool can make its effect idempotent.
    ActionId
}

impl RunId {
    /// A new identifier that sorts by the time it was made.
    #[must_use]
    pub fn new() -> Self {
        Self(uuid::Uuid::now_v7().to_string().into())
    }
}

impl Default for RunId {
    fn default() -> Self {
        Self::new()
    }
}

impl ActionId {
    /// The action that a call of a run is: the same one after a resume, another one for each call.
    pub(crate) fn of(run: &RunId, step: u32, index: usize) -> Self {
        Self(format!("{run}/{step}/{index}").into())
    }
}

/// Addresses one message of a history, whatever is inserted or removed around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub(crate) u64);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}
