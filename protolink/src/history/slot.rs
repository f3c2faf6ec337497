//! The system message: compiled text, a hook's override, and one appended section a hook (contract M8).

use std::sync::OnceLock;

/// What hooks said about the system message. The compiled text is no part of it: it is made anew at each step.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SystemSlot {
    text: Option<String>,
    sections: Vec<(String, String)>,
    /// The text with its sections, made when it is first read.
    whole: OnceLock<String>,
}

impl SystemSlot {
    /// Replaces everything that stands there: the text is exactly this.
    pub(crate) fn set(&mut self, text: String) {
        *self = Self { text: Some(text), ..Self::default() };
    }

    /// Adds a section, in place of the one that the same hook added before.
    pub(crate) fn append(&mut self, hook: &str, text: String) {
        match self.sections.iter_mut().find(|(owner, _)| owner == hook) {
            Some((_, section)) => *section = text,
            None => self.sections.push((hook.to_owned(), text)),
        }
        self.forget();
    }

    /// Goes back to the compiled text.
    pub(crate) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Forgets what was made of a compiled text that is not the current one.
    pub(crate) fn forget(&mut self) {
        self.whole = OnceLock::new();
    }

    /// The system message that this makes of the compiled one.
    pub(crate) fn over<'s>(&'s self, compiled: &'s str) -> &'s str {
        let base = self.text.as_deref().unwrap_or(compiled);
        if self.sections.is_empty() {
            return base;
        }
        self.whole.get_or_init(|| {
            let parts = std::iter::once(base).chain(self.sections.iter().map(|(_, text)| text.as_str()));
            parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
        })
    }
}
