//! Messages as short lines, so that a test can say what it expects.

use std::collections::HashSet;
use std::sync::Arc;

use protolink::Message;
use protolink::testing::RecordedRequest;

/// One line a message: `user: ..`, `assistant: ..`, with `name(arguments) = outcome` for each call.
#[must_use]
pub fn said(messages: &[Arc<Message>]) -> Vec<String> {
    messages.iter().map(|message| line(message)).collect()
}

/// The messages of a request as they were sent.
#[must_use]
pub fn sent(request: &RecordedRequest) -> Vec<String> {
    said(&request.messages)
}

fn line(message: &Message) -> String {
    let who = if message.is_user() { "user" } else { "assistant" };
    let mut parts: Vec<String> = message.text().map(str::to_owned).into_iter().collect();
    parts.extend(message.calls().iter().map(|exchange| {
        let (call, outcome) = (&exchange.call, &exchange.outcome);
        format!("{}({}) = {}", call.name, call.arguments, outcome.to_model_text())
    }));
    format!("{who}: {}", parts.join(" | "))
}

/// Checks that every call of a turn stands there once, under an id of its own.
///
/// # Panics
/// Where it does not.
pub fn assert_paired(messages: &[Arc<Message>]) {
    for message in messages {
        let ids: HashSet<&str> = message.calls().iter().map(|exchange| exchange.call.id.as_str()).collect();
        assert_eq!(ids.len(), message.calls().len(), "each call has an id of its own: {message:?}");
        assert!(ids.iter().all(|id| !id.is_empty()), "no call is without an id: {message:?}");
    }
}
