//! The clauses of the contract, except those of what is kept in a store.
//!
//! They share one binary: each one links the whole library.

mod after_tool;
mod bad_days;
mod bad_input;
mod before_complete;
mod before_model;
mod capabilities;
mod cases_edits;
mod cases_failures;
mod cases_filter;
mod cases_paths;
mod cases_values;
mod clauses;
mod compared_contracts;
mod context_artifacts;
mod context_policy;
mod contract_changes;
mod edited_requests;
mod fixtures;
mod kept_values;
mod macro_tools;
mod matrix;
mod panics_elsewhere;
mod policy_budget;
mod programs;
mod stages;
mod streaming;
mod strict;
mod structured_answers;
mod told;
mod told_truly;
mod unkept_values;
