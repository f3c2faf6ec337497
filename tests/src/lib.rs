//! What the tests of the contract share.
