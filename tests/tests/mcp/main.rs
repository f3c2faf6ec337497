//! Tools of servers of the Model Context Protocol.
//!
//! They share one binary: each one links the whole library.

mod bad_input;
mod everything;
mod tools;
