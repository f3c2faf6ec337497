//! The active conversation, and the handle through which a hook edits it.

mod edit;
mod sizes;
mod slot;
mod state;
mod touched;

pub use edit::{HistoryMut, MessageMut};
pub(crate) use sizes::Sizes;
pub(crate) use state::{History, HistoryDraft};
