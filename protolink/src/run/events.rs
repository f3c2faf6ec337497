//! Telling those who watch (contract P3).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::mpsc::UnboundedSender;

use crate::change::{Captured, Change};
use crate::event::RunEvent;
use crate::hook::{panic_message, text_of};
use crate::settings::AgentInner;

/// Those who watch one run.
pub(super) struct Events {
    agent: Arc<AgentInner>,
    listener: Option<UnboundedSender<RunEvent>>,
}

impl Events {
    pub(super) fn new(agent: Arc<AgentInner>, listener: Option<UnboundedSender<RunEvent>>) -> Self {
        Self { agent, listener }
    }

    /// Whether anybody watches; events are made only then.
    pub(super) fn are_watched(&self) -> bool {
        self.listener.is_some() || !self.agent.settings.observers.is_empty()
    }

    pub(super) fn has_listener(&self) -> bool {
        self.listener.is_some()
    }

    /// Tells everybody. The event is made only if somebody watches.
    pub(super) fn emit(&self, event: impl FnOnce() -> RunEvent) {
        if self.are_watched() {
            let event = event();
            self.tell_observers(&event);
            self.send(event);
        }
    }

    /// Tells the observers only: whoever reads the stream gets the error itself.
    pub(super) fn emit_to_observers(&self, event: impl FnOnce() -> RunEvent) {
        if !self.agent.settings.observers.is_empty() {
            self.tell_observers(&event());
        }
    }

    /// Shows text that is provisional: to the listener, and to observers that may see content.
    pub(super) fn show(&self, step: u32, text: &str) {
        let event = RunEvent::TextDelta { step, text: text.to_owned() };
        if self.agent.settings.capture_content {
            self.tell_observers(&event);
        }
        self.send(event);
    }

    /// The content, or its digest where content capture is off.
    pub(super) fn captured<T: Serialize + Clone>(&self, content: &T) -> Captured<T> {
        let content = Captured::Content(content.clone());
        if self.agent.settings.capture_content { content } else { content.without_content() }
    }

    /// The changes, without content where content capture is off.
    pub(super) fn captured_changes(&self, changes: &[Change]) -> Vec<Change> {
        if self.agent.settings.capture_content {
            changes.to_vec()
        } else {
            changes.iter().map(Change::without_content).collect()
        }
    }

    fn send(&self, event: RunEvent) {
        if let Some(listener) = &self.listener {
            // Whoever stopped reading has stopped watching.
            let _ = listener.send(event);
        }
    }

    fn tell_observers(&self, event: &RunEvent) {
        for observer in &self.agent.settings.observers {
            let message = match catch_unwind(AssertUnwindSafe(|| observer.observe(event))) {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => text_of(&error),
                Err(panic) => panic_message(panic.as_ref()),
            };
            tracing::warn!(agent = %self.agent.settings.name, error = %message, "an observer failed; the run goes on");
            self.send(RunEvent::ObserverFailed { message });
        }
    }
}
