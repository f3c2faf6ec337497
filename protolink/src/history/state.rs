//! What a conversation keeps.

use std::sync::Arc;

use super::sizes::Sizes;
use super::slot::SystemSlot;
use crate::change::{Captured, Change, MessageEdit};
use crate::ids::MessageId;
use crate::message::{Message, ToolOutcome};

/// The messages of a conversation, and what hooks said about its system message.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    pub(super) messages: Vec<Arc<Message>>,
    pub(super) ids: Vec<MessageId>,
    users: usize,
    sizes: Sizes,
    pub(super) system: SystemSlot,
}

impl History {
    pub(crate) fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    pub(crate) fn has_user_message(&self) -> bool {
        self.users > 0
    }

    /// How large the messages are, as far as they were [measured](super::HistoryDraft::measure_sent).
    pub(crate) fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    pub(super) fn measure(&mut self) {
        self.sizes.measure(&self.messages);
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn position(&self, id: MessageId) -> Option<usize> {
        // Identifiers mostly rise with the position, so the usual case is a look at one place.
        match self.ids.binary_search(&id) {
            Ok(index) => Some(index),
            Err(_) => self.ids.iter().position(|candidate| *candidate == id),
        }
    }

    pub(super) fn id_at(&self, index: usize) -> Option<MessageId> {
        self.ids.get(index).copied()
    }

    pub(super) fn insert(&mut self, index: usize, id: MessageId, message: Arc<Message>) {
        let index = index.min(self.messages.len());
        self.users += usize::from(message.is_user());
        self.messages.insert(index, message);
        self.ids.insert(index, id);
        self.sizes.insert(index);
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<(MessageId, Arc<Message>)> {
        if index >= self.messages.len() {
            return None;
        }
        let message = self.messages.remove(index);
        self.users -= usize::from(message.is_user());
        self.sizes.remove(index);
        Some((self.ids.remove(index), message))
    }

    pub(super) fn replace(&mut self, index: usize, message: Arc<Message>) -> Option<Arc<Message>> {
        // An edit never changes whose message it is, so the count of user messages stands.
        let place = self.messages.get_mut(index)?;
        self.sizes.forget(index);
        Some(std::mem::replace(place, message))
    }

    /// Makes an edit again that was recorded. Says whether it could be made.
    pub(crate) fn replay(&mut self, change: &Change) -> bool {
        match change {
            Change::Pushed { id, message: Captured::Content(message), .. } => {
                self.insert(self.len(), *id, Arc::clone(message));
                true
            }
            Change::Inserted { id, index, message: Captured::Content(message), .. } => {
                self.insert(*index, *id, Arc::clone(message));
                true
            }
            Change::Removed { id, .. } => self.position(*id).and_then(|index| self.remove(index)).is_some(),
            Change::Edited { id, edits: Captured::Content(edits), .. } => {
                self.position(*id).is_some_and(|index| self.apply_edits(index, edits).is_some())
            }
            Change::SystemSet { text: Captured::Content(text), .. } => {
                self.system.set(text.clone());
                true
            }
            Change::SystemAppended { hook, text: Captured::Content(text), .. } => {
                self.system.append(hook, text.clone());
                true
            }
            Change::SystemReset { .. } => {
                self.system.reset();
                true
            }
            _ => false,
        }
    }

    /// Changes a message copy-on-write, and gives the message that stood there.
    pub(super) fn apply_edits(&mut self, index: usize, edits: &[MessageEdit]) -> Option<Arc<Message>> {
        let place = self.messages.get_mut(index)?;
        let before = Arc::clone(place);
        let mut message = (**place).clone();
        for edit in edits {
            match (edit, &mut message) {
                (MessageEdit::Text(text), Message::User(content)) => content.text.clone_from(text),
                (MessageEdit::Text(text), Message::Assistant(turn)) => turn.text = Some(text.clone()),
                (MessageEdit::Observed { call_id, result }, Message::Assistant(turn)) => {
                    if let Some(exchange) = turn.calls.iter_mut().find(|exchange| exchange.call.id == *call_id) {
                        exchange.outcome = ToolOutcome::Observed(result.clone().into());
                    }
                }
                (MessageEdit::Observed { .. }, Message::User(_)) => {}
            }
        }
        *place = Arc::new(message);
        self.sizes.forget(index);
        Some(before)
    }
}
