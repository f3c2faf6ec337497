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

#[cfg(test)]
mod tests {
    use super::*;

    fn message(words: usize) -> Arc<Message> {
        Arc::new(Message::user("word ".repeat(words)))
    }

    fn tokens(message: &Message) -> u64 {
        MessageSize::of(message).tokens
    }

    #[test]
    fn p2_the_sum_follows_what_comes_goes_and_changes() {
        let mut messages = vec![message(1), message(20), message(300)];
        let mut sizes = Sizes::default();
        for index in 0..messages.len() {
            sizes.insert(index);
        }
        assert_eq!((sizes.total(), sizes.tokens(1)), (0, 0), "nothing was measured");
        let check = |sizes: &mut Sizes, messages: &[Arc<Message>]| {
            sizes.measure(messages);
            for (index, message) in messages.iter().enumerate() {
                assert_eq!(sizes.tokens(index), tokens(message), "{index}");
            }
            assert_eq!(sizes.total(), messages.iter().map(|message| tokens(message)).sum::<u64>());
            assert_eq!(sizes.tokens(messages.len()), 0, "there is no such message");
        };
        check(&mut sizes, &messages);
        messages.remove(0);
        sizes.remove(0);
        check(&mut sizes, &messages);
        messages[0] = message(4000);
        sizes.forget(0);
        check(&mut sizes, &messages);
        messages.insert(1, message(50));
        sizes.insert(1);
        check(&mut sizes, &messages);
        // What was never measured goes without being taken off.
        messages.insert(0, message(7));
        sizes.insert(0);
        messages.remove(0);
        sizes.remove(0);
        check(&mut sizes, &messages);
    }
}
