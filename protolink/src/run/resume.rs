//! Taking a run up again: its journal is folded into the loop's state, its contract compared, and it goes on from
//! the last commit (contract D2 to D11).

mod builder;
mod check;
mod fold;
mod go;
mod history;
mod settle;
mod stand;

pub use builder::ResumeBuilder;
pub(crate) use history::conversation;
pub(crate) use settle::{cancel_dropped, cancel_run, interruption, reconcile, store_of};
