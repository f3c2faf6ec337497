//! The active conversation, and the handle through which a hook edits it.

mod draft;
mod edit;
mod sizes;
mod slot;
mod state;
mod touched;

pub(crate) use draft::HistoryDraft;
pub use edit::{HistoryMut, MessageMut};
pub(crate) use sizes::Sizes;
pub(crate) use state::History;
