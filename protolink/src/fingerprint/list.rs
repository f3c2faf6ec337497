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
