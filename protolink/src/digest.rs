//! SHA-256 digests of JSON, for receipts, approvals, events and the contract's fingerprint.

use std::fmt;
use std::io;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest; reads and prints as 64 hexadecimal digits.
///
/// ```
/// use protolink::Digest;
///
/// let digest = Digest::of(b"a lamp");
/// assert_eq!(digest.to_string().len(), 64);
/// assert_eq!(digest.as_bytes().len(), 32);
/// assert_ne!(digest, Digest::of(b"another lamp"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of a value's JSON, and the length of that JSON in bytes.
    pub(crate) fn of_json<T: Serialize + ?Sized>(value: &T) -> (Self, u64) {
        let mut writer = Hashing { hasher: Sha256::new(), bytes: 0 };
        // Writing to a hasher cannot fail, and what is hashed here was JSON before.
        if serde_json::to_writer(&mut writer, value).is_err() {
            writer.hasher.update(b"\0unserialisable");
        }
        (Self(writer.hasher.finalize().into()), writer.bytes)
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

struct Hashing {
    hasher: Sha256,
    bytes: u64,
}

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.is_ascii() {
            return Err(serde::de::Error::custom("a digest has 64 hexadecimal digits"));
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(serde::de::Error::custom)?;
            *byte = u8::from_str_radix(digits, 16).map_err(serde::de::Error::custom)?;
        }
        Ok(Self(bytes))
    }
}
