//! The text of an outcome, which may be long: measured and read in parts without being copied whole.

use std::borrow::Cow;
use std::io;

use serde_json::Value;

use super::ToolOutcome;

/// What the model is shown of a result, or of what a tool said about its failure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OutcomeText<'m> {
    Plain(&'m str),
    Json(&'m Value),
}

/// How long a text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TextLength {
    pub(crate) bytes: u64,
    pub(crate) chars: usize,
}

impl<'m> OutcomeText<'m> {
    /// The text of this outcome; `None` where it has none of its own.
    pub(crate) fn of(outcome: &'m ToolOutcome) -> Option<Self> {
        match outcome {
            ToolOutcome::Observed(value) => Some(match &**value {
                Value::String(text) => Self::Plain(text),
                other => Self::Json(other),
            }),
            ToolOutcome::Failed(text) | ToolOutcome::Rejected(text) | ToolOutcome::Denied(text) => {
                Some(Self::Plain(text))
            }
            ToolOutcome::Cancelled | ToolOutcome::Uncertain | ToolOutcome::Withheld { .. } => None,
        }
    }

    pub(crate) fn length(&self) -> TextLength {
        match self {
            Self::Plain(text) => TextLength { bytes: text.len() as u64, chars: text.chars().count() },
            Self::Json(value) => {
                let mut counter = Counter::default();
                // A counter takes everything.
                let _ = serde_json::to_writer(&mut counter, value);
                counter.0
            }
        }
    }

    /// The first so many characters.
    pub(crate) fn head(&self, chars: usize) -> Cow<'m, str> {
        match self {
            Self::Plain(text) => Cow::Borrowed(part(text, 0, chars)),
            Self::Json(value) => {
                let mut head = Head { text: Vec::new(), left: chars };
                // It stops the writing by an error once it has what it wants.
                let _ = serde_json::to_writer(&mut head, value);
                Cow::Owned(String::from_utf8_lossy(&head.text).into_owned())
            }
        }
    }

    pub(crate) fn whole(&self) -> Cow<'m, str> {
        match self {
            Self::Plain(text) => Cow::Borrowed(text),
            Self::Json(value) => Cow::Owned(value.to_string()),
        }
    }
}

/// A part of a text, counted in characters.
pub(crate) fn part(text: &str, offset: usize, chars: usize) -> &str {
    let start = byte_of(text, offset);
    let rest = &text[start..];
    &rest[..byte_of(rest, chars)]
}

/// Where the character of this number begins; the end of the text where it has no more than that.
fn byte_of(text: &str, character: usize) -> usize {
    if text.len() <= character {
        return text.len();
    }
    text.char_indices().nth(character).map_or(text.len(), |(byte, _)| byte)
}

/// Whether a byte of UTF-8 begins a character.
fn begins_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[derive(Default)]
struct Counter(TextLength);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.bytes += bytes.len() as u64;
        self.0.chars += bytes.iter().filter(|byte| begins_character(**byte)).count();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Head {
    text: Vec<u8>,
    left: usize,
}

impl io::Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (taken, byte) in bytes.iter().enumerate() {
            if begins_character(*byte) {
                let Some(left) = self.left.checked_sub(1) else {
                    self.text.extend_from_slice(&bytes[..taken]);
                    return Err(io::ErrorKind::WriteZero.into());
                };
                self.left = left;
            }
        }
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
