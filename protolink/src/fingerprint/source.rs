//! The digest of a hook's source, made by its attribute at compile time.

use std::fmt::{self, Write};
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
pub struct Fingerprint(
    /// Hexadecimal digits in lower case: in this form the attribute writes them, and receipts and reports show them.
    [u8; DIGITS],
);

const DIGITS: usize = 64;

impl Fingerprint {
    /// The digits at the start of a text, and what follows them.
    pub(crate) const fn split_from(text: &'static str) -> Option<(Self, &'static str)> {
        match (text.as_bytes().first_chunk(), text.split_at_checked(DIGITS)) {
            (Some(digits), Some((_, rest))) => Some((Self(*digits), rest)),
            _ => None,
        }
    }

    /// The digest that the digits are written of.
    pub(crate) const fn bytes(self) -> [u8; DIGITS / 2] {
        let mut bytes = [0; DIGITS / 2];
        let mut at = 0;
        while at < DIGITS {
            let digit = self.0[at];
            let value = digit & 0x0f;
            // `is_ascii_digit` is a call, which the compiler makes 64 times for each hook of a constant list.
            bytes[at / 2] = bytes[at / 2] << 4 | if digit > b'9' { value + 9 } else { value };
            at += 1;
        }
        bytes
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fp1:")?;
        self.0.iter().try_for_each(|digit| f.write_char(char::from(*digit)))
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
        let mut digits: [u8; DIGITS] = digits.as_bytes().try_into().map_err(|_| UnknownFingerprint)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(UnknownFingerprint);
        }
        digits.make_ascii_lowercase();
        Ok(Self(digits))
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
