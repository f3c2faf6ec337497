//! Names that the loop gives to runs, actions and messages.

use std::fmt::{self, Write as _};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use uuid::{Builder, Uuid};

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
    /// assert!(RunId::new() < RunId::new(), "new ones sort by their time");
    /// ```
    RunId
}

text_id! {
    /// Names one prepared tool call for good: the key under which a tool can make its effect idempotent.
    ///
    /// It is the same after a resume, and another one for each call (contract D2). A tool finds it in its
    /// [`ToolContext`](crate::ToolContext::action_id), a person in the [`Interruption`](crate::Interruption).
    ///
    /// ```
    /// use protolink::ActionId;
    /// let id = ActionId::from("order-17/1/0");
    /// assert_eq!(id.as_str(), "order-17/1/0");
    /// ```
    ActionId
}

impl RunId {
    /// A new identifier that sorts by the time it was made.
    #[must_use]
    pub fn new() -> Self {
        Self(new_uuid().to_string().into())
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
        let mut id = String::with_capacity(run.as_str().len() + 16);
        // Writing to a string does not fail.
        let _ = write!(id, "{run}/{step}/{index}");
        Self(id.into())
    }
}

/// A new UUID of version 7: it sorts by the time it was made, to a quarter of a microsecond.
pub(crate) fn new_uuid() -> Uuid {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
    let parts = u16::try_from((now.subsec_nanos() % 1_000_000) / 245).unwrap_or(u16::MAX);
    // The keys of the standard library's hashers come from the operating system, and nobody can guess them.
    let random = RandomState::new().hash_one(millis);
    let mut bytes = [0; 10];
    bytes[..2].copy_from_slice(&parts.to_be_bytes());
    bytes[2..].copy_from_slice(&random.to_be_bytes());
    Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
}

/// Addresses one message of a history, whatever is inserted or removed around it.
///
/// ```
/// use protolink::Change;
/// use protolink::prelude::*;
/// use protolink::testing::RequestFixture;
///
/// let mut fixture = RequestFixture::new().user("one").user("two");
/// fixture.with(|request: &mut ModelRequest<'_>| request.history().remove(1));
/// let [Change::Removed { id, .. }] = fixture.changes() else { panic!("one edit was made") };
/// assert_eq!(id.to_string(), "m1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub(crate) u64);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_ids_are_unique_and_sort_by_time() {
        let ids: Vec<Uuid> = (0..10_000).map(|_| new_uuid()).collect();
        let unique: std::collections::HashSet<_> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len());
        assert_eq!((ids[0].get_version_num(), ids[0].get_variant()), (7, uuid::Variant::RFC4122));
        let earlier = new_uuid();
        std::thread::sleep(std::time::Duration::from_micros(10));
        assert!(earlier < new_uuid());
        let millis = |id: &Uuid| id.as_u128() >> 80;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        assert!(now.abs_diff(millis(&new_uuid())) < 5_000);
    }
}
