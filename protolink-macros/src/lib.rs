//! Attribute macros of `protolink`. Depend on `protolink`, not on this crate.
