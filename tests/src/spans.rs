//! Everything that `tracing` is told, as one text.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

use crate::Log;

/// Writes every span and event of its thread down.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    log: Log,
    spans: Arc<AtomicU64>,
}

impl Spans {
    /// Nothing is written yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes down what this thread tells, until the guard goes.
    #[must_use]
    pub fn watch(&self) -> DefaultGuard {
        tracing::subscriber::set_default(self.clone())
    }

    /// All that was written.
    #[must_use]
    pub fn text(&self) -> String {
        self.log.lines().join("\n")
    }
}

struct Fields<'l>(&'l Log);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.add(format!("{field}={value:?}"));
    }
}

impl Subscriber for Spans {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.log.add(span.metadata().name());
        span.record(&mut Fields(&self.log));
        // An id must not be zero.
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Fields(&self.log));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Fields(&self.log));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
