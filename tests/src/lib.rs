//! What the tests of the contract share.

pub mod stores;
