//! Values that JSON cannot hold, or holds in another form.

use serde::{Serialize, Serializer};

use crate::not_here::NotHere;

/// A value that is more than JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    NotANumber,
    Infinity,
    Tuple,
    Opaque,
}

impl Special {
    pub(crate) fn named(name: &str) -> Result<Self, NotHere> {
        match name {
            "nan" => Ok(Self::NotANumber),
            "inf" | "infinity" => Ok(Self::Infinity),
            "tuple" => Ok(Self::Tuple),
            "opaque" | "object" => Ok(Self::Opaque),
            other => Err(NotHere::unsupported(format!("the special value `{other}`"))),
        }
    }

    /// Whether it can be kept exactly (contract T7).
    pub(crate) fn is_kept(self) -> bool {
        self == Self::Tuple
    }
}

impl Serialize for Special {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::NotANumber => serializer.serialize_f64(f64::NAN),
            Self::Infinity => serializer.serialize_f64(f64::INFINITY),
            Self::Tuple => (1, 2).serialize(serializer),
            Self::Opaque => Err(serde::ser::Error::custom("an opaque value")),
        }
    }
}
