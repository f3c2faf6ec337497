//! The digest of a hook's source, made by its attribute at compile time.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The digest of a hook's source: its tokens, without formatting, comments and docs (contract D6).
///
/// It reads and prints as `fp1:` and 64 hexadecimal digits; `fp1` is the version of the algorithm.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::{Fingerprint, Hook};
///
/// #[before_complete]
/// fn not_empty(_response: &mut FinalResponse<'_>) {}
///
/// let fingerprint = not_empty::META.fingerprint.ok_or("its source is known")?;
/// assert_eq!(fingerprint.to_string().parse::<Fingerprint>()?, fingerprint);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    #[doc(hidden)]
    #[must_use]
    pub const fn from_source(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    pub(crate) const fn bytes(self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fp1:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no fingerprint of a known algorithm.
///
/// ```
/// use protolink::{Fingerprint, UnknownFingerprint};
///
/// assert_eq!("fp9:00".parse::<Fingerprint>(), Err(UnknownFingerprint));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is `fp1:` and 64 hexadecimal digits")]
pub struct UnknownFingerprint;

impl FromStr for Fingerprint {
    type Err = UnknownFingerprint;

    fn from_str(text: &str) -> Result<Self, UnknownFingerprint> {
        let digits = text.strip_prefix("fp1:").ok_or(UnknownFingerprint)?;
        if digits.len() != 64 || !digits.is_ascii() {
            return Err(UnknownFingerprint);
        }
        let mut digest = [0; 32];
        for (index, byte) in digest.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * index..2 * index + 2], 16).map_err(|_| UnknownFingerprint)?;
        }
        Ok(Self(digest))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
