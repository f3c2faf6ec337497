//! A conversation's own place for its history, and how it keeps in step with a store.

use std::sync::Arc;
use std::time::Duration;

use super::resume::{cancel_dropped, conversation};
use crate::durable::{Page, RunFilter, RunStore};
use crate::error::Error;
use crate::history::History;
use crate::ids::RunId;
use crate::settings::AgentInner;

/// How often, and how far apart, a lease is asked for that this process is about to give back.
const PATIENCE: (usize, Duration) = (60, Duration::from_millis(5));

/// What a conversation keeps between its runs.
#[derive(Default)]
pub(crate) struct HistoryPlace {
    pub(crate) history: History,
    /// The name by which a store knows the conversation.
    pub(crate) name: Option<String>,
    /// The interruption or the open run that the conversation waits for.
    pub(crate) open: Option<RunId>,
    /// The run that the next one continues.
    pub(crate) last: Option<Last>,
    /// A run that was dropped half-way in this process: the next one ends it.
    pub(super) dropped: Option<Dropped>,
}

/// The latest run of a conversation, as this process left it.
pub(crate) struct Last {
    pub(crate) run_id: RunId,
    /// How many rows it has; `None` where that is for the store to tell.
    pub(crate) rows: Option<u64>,
}

/// A run that was dropped half-way.
#[derive(Clone)]
pub(crate) struct Dropped {
    pub(crate) run_id: RunId,
    pub(crate) continues: Option<RunId>,
}

impl HistoryPlace {
    pub(crate) fn named(name: String) -> Self {
        Self { name: Some(name), ..Self::default() }
    }

    /// The run that the next one continues.
    pub(super) fn continues(&self) -> Option<RunId> {
        self.last.as_ref().map(|last| last.run_id.clone())
    }

    /// Makes sure that the conversation can go on from here: nothing of it is open, and nobody went on elsewhere.
    pub(super) async fn ready(&mut self, agent: &Arc<AgentInner>) -> Result<(), Error> {
        if let (Some(store), Some(name)) = (&agent.settings.store, self.name.clone()) {
            self.end_dropped(agent).await?;
            let newest = store.list(&RunFilter::new().conversation(name.as_str()), Page::newest(1)).await?;
            let known = match (newest.runs.first(), &self.last) {
                (None, None) => true,
                (Some(newest), Some(last)) => {
                    newest.run_id == last.run_id && Some(newest.rows) == last.rows && newest.state.is_ended()
                }
                _ => false,
            };
            if !known {
                self.reload(store, name).await?;
            }
        }
        let Some(run_id) = self.open.clone() else { return Ok(()) };
        Err(Error::ConversationOpen { conversation: self.name.clone().unwrap_or_default(), run_id })
    }

    /// Takes the conversation from the store.
    pub(super) async fn reload(&mut self, store: &Arc<dyn RunStore>, name: String) -> Result<(), Error> {
        *self = conversation(store, name).await?;
        Ok(())
    }

    /// Ends the run that was dropped: its calls in flight are uncertain, and the conversation says so.
    async fn end_dropped(&mut self, agent: &Arc<AgentInner>) -> Result<(), Error> {
        let Some(dropped) = self.dropped.clone() else { return Ok(()) };
        let (attempts, pause) = PATIENCE;
        for pause in std::iter::repeat_n(Some(pause), attempts).chain([None]) {
            match (cancel_dropped(agent, &dropped, self.name.as_deref()).await, pause) {
                // Its lease is on its way back.
                (Err(Error::RunBusy { .. }), Some(pause)) => tokio::time::sleep(pause).await,
                (ended, _) => {
                    ended?;
                    break;
                }
            }
        }
        self.dropped = None;
        Ok(())
    }
}
