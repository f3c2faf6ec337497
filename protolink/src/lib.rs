//! Your own code in an LLM agent's loop.

pub mod durable;
pub mod ids;
pub mod testing;
