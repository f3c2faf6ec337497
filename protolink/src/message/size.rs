//! How large a message is, by estimate: no tokenizer is asked, four bytes are one token.

use serde::Serialize;

use super::text::OutcomeText;
use super::{Attachment, AttachmentSource, Exchange, Message, ToolOutcome};

/// What a message, a tool or a call costs beside its text.
pub(crate) const OVERHEAD: u64 = 4;

/// What an image costs, whatever its bytes: about what providers charge for the largest that they do not scale down.
const IMAGE: u64 = 1_600;

/// The size of a message, and of the outcomes in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MessageSize {
    pub(crate) tokens: u64,
    /// One for each call, in order.
    pub(crate) outcomes: Vec<OutcomeSize>,
}

/// The size of an outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OutcomeSize {
    pub(crate) tokens: u64,
    /// The length of its text.
    pub(crate) chars: usize,
}

impl MessageSize {
    pub(crate) fn of(message: &Message) -> Self {
        let beside_calls = OVERHEAD
            + message.text().map_or(0, estimate_text)
            + match message {
                Message::User(content) => content.attachments.iter().map(estimate_attachment).sum(),
                Message::Assistant(turn) => turn.provider.as_ref().map_or(0, estimate_json),
            };
        let outcomes: Vec<_> = message.calls().iter().map(|exchange| OutcomeSize::of(&exchange.outcome)).collect();
        let calls = message.calls().iter().map(estimate_call).sum::<u64>();
        let tokens = beside_calls + calls + outcomes.iter().map(|outcome| outcome.tokens).sum::<u64>();
        Self { tokens, outcomes }
    }
}

impl OutcomeSize {
    pub(crate) fn of(outcome: &ToolOutcome) -> Self {
        let length = OutcomeText::of(outcome).map(|text| text.length()).unwrap_or_default();
        let tokens = match outcome {
            ToolOutcome::Observed(_) => length.bytes.div_ceil(4),
            // What is said about it is as long as the text, or longer.
            other => estimate_text(&other.to_model_text()),
        };
        Self { tokens, chars: length.chars }
    }
}

/// The tokens of a text.
pub(crate) fn estimate_text(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// The tokens of a value's JSON.
pub(crate) fn estimate_json<T: Serialize + ?Sized>(value: &T) -> u64 {
    struct Count(u64);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // What cannot be written is not sent either.
    let _ = serde_json::to_writer(&mut count, value);
    count.0.div_ceil(4)
}

fn estimate_call(exchange: &Exchange) -> u64 {
    let call = &exchange.call;
    OVERHEAD + estimate_text(&call.id) + estimate_text(&call.name) + estimate_json(&call.arguments)
}

fn estimate_attachment(attachment: &Attachment) -> u64 {
    if attachment.media_type.starts_with("image/") {
        return IMAGE;
    }
    match &attachment.source {
        AttachmentSource::Url(url) => estimate_text(url),
        AttachmentSource::Base64(data) => estimate_text(data),
    }
}
