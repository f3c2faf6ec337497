//! The places of a conversation as scenarios count them: the system message first, then each message, and after a turn
//! with calls each outcome as a message of its own.

use protolink::{HistoryMut, Message};

/// What stands at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    System,
    Message(usize),
    Outcome(usize, String),
}

fn places<'m>(messages: impl Iterator<Item = &'m Message>) -> Vec<Place> {
    let mut places = vec![Place::System];
    for (at, message) in messages.enumerate() {
        places.push(Place::Message(at));
        places.extend(message.calls().iter().map(|exchange| Place::Outcome(at, exchange.call.id.clone())));
    }
    places
}

/// What stands at this index; a negative one counts from the end.
pub(crate) fn place_at(history: &HistoryMut<'_>, index: i64) -> Option<Place> {
    let places = places(history.iter());
    let index = match usize::try_from(index) {
        Ok(index) => index,
        Err(_) => places.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
    };
    places.get(index).cloned()
}

/// How many places there are.
pub(crate) fn flat_length(history: &HistoryMut<'_>) -> usize {
    places(history.iter()).len()
}
