//! What the examples share: an assistant over this repository's own documents.

pub mod assistant;
pub mod narrator;
