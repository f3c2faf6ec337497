//! What is kept in a store: the clauses of durable runs, and what every store must do.
//!
//! They share one binary: each one links the whole library.

mod cases_resume;
mod conversations_kept;
mod durable_contract;
mod durable_conversation;
mod durable_declined;
mod durable_faults;
mod durable_pause;
mod durable_resume;
mod resume_settings;
mod resumed_exactly;
mod store_conformance;
mod store_damage;
mod store_faults;
mod store_files;
mod store_names_and_figures;
mod store_processes;
mod store_suite_bites;
mod store_wrapper;
