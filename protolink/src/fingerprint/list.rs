//! The fingerprint of an ordered list of hooks, known at compile time.

use std::fmt;

use crate::hook::HookMeta;

/// A digest over the fingerprints of a list of hooks, in their order: a constant, for asserting that a reviewed set of
/// hooks is the one that is built.
///
/// It finds a change, not a forger; the contract of an agent has a digest of its own.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::{Hook, ListFingerprint, hooks_fingerprint};
///
/// #[before_complete]
/// fn not_empty(_response: &mut FinalResponse<'_>) {}
///
/// const REVIEWED: ListFingerprint = hooks_fingerprint![not_empty];
/// assert_eq!(REVIEWED, ListFingerprint::of(&[not_empty::META]));
/// assert!(REVIEWED.to_string().starts_with("fp1-list:"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListFingerprint(u128);

impl ListFingerprint {
    /// The fingerprint of these hooks.
    #[must_use]
    pub const fn of(hooks: &[&HookMeta]) -> Self {
        // FNV-1a with 128 bits: something stronger takes the compiler milliseconds for each hook.
        let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        let mut at = 0;
        while at < hooks.len() {
            let bytes = match hooks[at].fingerprint {
                Some(fingerprint) => fingerprint.bytes(),
                None => [0; 32],
            };
            let mut index = 0;
            while index < bytes.len() {
                hash = (hash ^ bytes[index] as u128).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
                index += 1;
            }
            at += 1;
        }
        Self(hash)
    }
}

impl fmt::Display for ListFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fp1-list:{:032x}", self.0)
    }
}

impl fmt::Debug for ListFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::ListFingerprint;
    use crate::fingerprint::UnknownFingerprint;
    use crate::hook::{HookMeta, Stage};

    #[test]
    fn d6_a_list_is_digested_by_the_bytes_of_its_fingerprints() -> Result<(), UnknownFingerprint> {
        let unknown = HookMeta::new(Stage::BeforeModel, "a", "b");
        let digits = "fp1:9ca3aab1b8bfc6cdd4dbe2e9f0f7fe050c131a21282f363d444b525960676e75";
        let known = HookMeta { fingerprint: Some(digits.parse()?), ..unknown };
        // FNV-1a of 128 bits over the 32 bytes, and over 32 zeros for the hook whose source is not known.
        assert_eq!(ListFingerprint::of(&[&known, &unknown]).to_string(), "fp1-list:881112c94cc6d0734c3747eb56b9864d");
        Ok(())
    }
}
