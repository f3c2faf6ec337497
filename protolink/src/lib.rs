//! Your own code in an LLM agent's loop.
