//! Misuse does not compile, and the compiler says what to do.
//!
//! Each folder of `fail` is a rule, each file in it one way to break the rule, with the compiler's message beside it.
//! The messages are those of the Rust version that the workspace declares. After a change that is meant, run
//! `TRYBUILD=overwrite cargo test -p protolink-ui-tests --test ui` and read the difference. What is right is in `pass`,
//! and compiled by the test of that name.

#[test]
fn what_is_wrong_does_not_compile() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}
