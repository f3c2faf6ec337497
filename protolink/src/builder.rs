//! The builder of agents. What every agent needs stands first, on its page too: rustdoc keeps the order of the modules.

mod assemble;
mod keeping;
mod limits;

pub use assemble::AgentBuilder;
