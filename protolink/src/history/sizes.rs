//! How large the messages of a history are: each is measured once, when it is first asked for.

use std::sync::Arc;

use crate::message::{Message, MessageSize, OutcomeSize};

/// The sizes of a history's messages, each beside its message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sizes {
    known: Vec<Option<MessageSize>>,
    /// The sum of those that were measured.
    total: u64,
    /// Before this one, all were measured.
    measured: usize,
}

impl Sizes {
    pub(super) fn insert(&mut self, index: usize) {
        self.known.insert(index, None);
        self.measured = self.measured.min(index);
    }

    pub(super) fn remove(&mut self, index: usize) {
        self.forget(index);
        self.known.remove(index);
    }

    /// Has the message at `index` measured again.
    pub(super) fn forget(&mut self, index: usize) {
        if let Some(size) = self.known[index].take() {
            self.total -= size.tokens;
        }
        self.measured = self.measured.min(index);
    }

    /// Measures what was not measured yet.
    pub(super) fn measure(&mut self, messages: &[Arc<Message>]) {
        for (size, message) in self.known.iter_mut().zip(messages).skip(self.measured) {
            if size.is_none() {
                let measured = MessageSize::of(message);
                self.total += measured.tokens;
                *size = Some(measured);
            }
        }
        self.measured = messages.len();
    }

    /// The tokens of all messages.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The tokens of the message at `index`.
    pub(crate) fn tokens(&self, index: usize) -> u64 {
        self.at(index).map_or(0, |size| size.tokens)
    }

    /// The sizes of the outcomes in the message at `index`.
    pub(crate) fn outcomes(&self, index: usize) -> &[OutcomeSize] {
        self.at(index).map_or(&[], |size| &size.outcomes)
    }

    fn at(&self, index: usize) -> Option<&MessageSize> {
        self.known.get(index).and_then(Option::as_ref)
    }
}
