//! A layer that keeps every span of its thread with its fields, its parent, and whether it was closed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// A span as it was told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) name: String,
    /// The name of the span that it is in.
    pub(crate) parent: Option<String>,
    pub(crate) fields: BTreeMap<String, String>,
    pub(crate) closed: bool,
}

impl Recorded {
    /// The value of a field; a field that was never recorded reads as a text that no field has.
    pub(crate) fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("(not recorded)", String::as_str)
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.fields.contains_key(field)
    }
}

impl Visit for Recorded {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name().to_owned(), format!("{value:?}"));
    }
}

/// The layer; clones share what they keep.
#[derive(Clone, Default)]
pub(crate) struct SpansReadBack(Arc<Mutex<Vec<Recorded>>>);

/// Where a span stands in the list.
struct Place(usize);

impl SpansReadBack {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Reads what this thread tells, until the guard goes.
    pub(crate) fn watch(&self) -> DefaultGuard {
        tracing::subscriber::set_default(Registry::default().with(self.clone()))
    }

    /// The spans of this crate, in the order in which they were opened.
    pub(crate) fn all(&self) -> Vec<Recorded> {
        self.kept().clone()
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Recorded>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for SpansReadBack {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut recorded = Recorded { name: span.name().to_owned(), ..Recorded::default() };
        recorded.parent = span.parent().map(|parent| parent.name().to_owned());
        attributes.record(&mut recorded);
        let mut kept = self.kept();
        span.extensions_mut().insert(Place(kept.len()));
        kept.push(recorded);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(Place(place)) = span.extensions().get() {
            values.record(&mut self.kept()[*place]);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        if let Some(Place(place)) = span.extensions().get() {
            self.kept()[*place].closed = true;
        }
    }
}
