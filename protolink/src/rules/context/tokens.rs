//! How large things are, by estimate: no tokenizer is asked, four bytes are one token.

use std::sync::Arc;

use serde::Serialize;

use crate::message::Message;
use crate::tool::ToolSpec;

/// What a message costs beside its text.
const OVERHEAD: u64 = 4;

/// The tokens of this text.
pub(crate) fn estimate_text(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// The tokens of this message.
pub(crate) fn estimate_message(message: &Message) -> u64 {
    let text = message.text().map_or(0, estimate_text);
    let calls = message.calls().iter().map(|exchange| {
        estimate_text(&exchange.call.name) + estimate_json(&exchange.call.arguments) + estimate_json(&exchange.outcome)
    });
    OVERHEAD + text + calls.sum::<u64>()
}

/// The tokens of these tools' descriptions.
pub(crate) fn estimate_tools(tools: &[Arc<ToolSpec>]) -> u64 {
    let one = |tool: &Arc<ToolSpec>| {
        OVERHEAD + estimate_text(tool.name()) + estimate_text(tool.description()) + estimate_json(tool.schema())
    };
    tools.iter().map(one).sum()
}

fn estimate_json<T: Serialize>(value: &T) -> u64 {
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
