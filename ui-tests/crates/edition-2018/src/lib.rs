//! The macros in edition 2018.

#![deny(warnings)]

#[path = "../../any_edition.rs"]
mod any_edition;

pub use any_edition::*;
