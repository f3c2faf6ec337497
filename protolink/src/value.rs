//! JSON values that are stored exactly, or refused.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

mod exact;
mod misfit;

pub(crate) use exact::{check_depth, to_value, to_value_of};
pub(crate) use misfit::without_content;

/// How deep a value may be nested, in levels.
///
/// Readers of JSON commonly stop at 128; a value that is kept must also be readable again inside the records that
/// hold it.
pub const MAX_DEPTH: usize = 100;

/// A JSON value that is shared instead of copied: a receipt and the message that shows it can be one allocation.
///
/// It reads like the [`Value`] inside.
///
/// ```
/// use protolink::SharedValue;
/// use serde_json::json;
/// let hits = SharedValue::from(json!({ "hits": 3 }));
/// assert_eq!(hits["hits"], 3);
/// assert_eq!(hits, json!({ "hits": 3 }));
/// assert!(hits.same(&hits.clone()), "a clone shares the value");
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SharedValue(#[serde(with = "shared")] Arc<Value>);

mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(value: &Arc<Value>, serializer: S) -> Result<S::Ok, S::Error> {
        value.as_ref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Value>, D::Error> {
        Value::deserialize(deserializer).map(Arc::new)
    }
}

impl SharedValue {
    /// Whether both are the very same allocation.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for SharedValue {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl From<Value> for SharedValue {
    fn from(value: Value) -> Self {
        Self(Arc::new(value))
    }
}

impl PartialEq<Value> for SharedValue {
    fn eq(&self, other: &Value) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<SharedValue> for Value {
    fn eq(&self, other: &SharedValue) -> bool {
        *self == *other.0
    }
}

impl fmt::Debug for SharedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for SharedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Why a value cannot be stored exactly (contract T7).
///
/// ```
/// use protolink::ValueError;
/// use protolink::testing::ResponseFixture;
///
/// assert_eq!(ResponseFixture::content(f64::NAN).err(), Some(ValueError::NotFinite));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// JSON has no way to write NaN or an infinity, and would keep `null` in its place.
    #[error("a number is NaN or infinite, which JSON cannot keep")]
    NotFinite,
    /// The value is nested deeper than [`MAX_DEPTH`] levels.
    #[error("a value is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Its `Serialize` implementation failed, or an integer does not fit 64 bits, or a map has a key that is no text.
    #[error("a value does not serialise: {0}")]
    Serialize(String),
    /// The JSON does not fit the type that a hook or an answer asked for.
    #[error("a value does not fit its type: {0}")]
    Deserialize(String),
}
