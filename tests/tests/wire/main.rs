//! Real models over loopback HTTP.
//!
//! They share one binary: each one links the whole library.

mod anthropic;
mod faults;
mod ollama;
mod openai;
