//! What a run did, written down outside of its processes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::report::HookRun;
use crate::durable::Record;
use crate::event::{Observer, RunEvent};
use crate::hook::BoxError;
use crate::ids::ActionId;
use crate::testing::ScriptedModel;
use crate::testing::model::Position;

/// Clones share what is written.
#[derive(Clone)]
pub(super) struct Ledger {
    entries: Arc<Mutex<Entries>>,
    model: ScriptedModel,
}

#[derive(Default)]
pub(super) struct Entries {
    /// Every start of a tool, in order.
    pub(super) started: Vec<(String, ActionId)>,
    pub(super) hooks: Vec<HookRun>,
    pub(super) commits: u64,
    /// Whether the store took the run.
    kept: bool,
    /// Where the model's script stood at the last reply that was kept.
    position: Position,
}

impl Ledger {
    pub(super) fn new(model: ScriptedModel) -> Self {
        Self { entries: Arc::default(), model }
    }

    pub(super) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a commit, and gives its number.
    pub(super) fn commit(&self) -> u64 {
        let mut entries = self.entries();
        entries.commits += 1;
        entries.commits
    }

    /// Takes note of what was committed.
    pub(super) fn committed(&self, payload: &str) {
        // What is not a record of this crate is the store's suite to find.
        let Ok(record) = serde_json::from_str::<Record>(payload) else { return };
        let mut entries = self.entries();
        entries.kept = true;
        if let Record::Replied(_) = record {
            entries.position = self.model.position();
        }
    }

    /// Takes note that the run begins, from the start of the model's script. Says whether the store had it before.
    pub(super) fn begin(&self) -> bool {
        let mut entries = self.entries();
        entries.position = Position::default();
        std::mem::take(&mut entries.kept)
    }

    /// The model as a new process meets it: a reply that nobody kept is given again.
    pub(super) fn model(&self) -> ScriptedModel {
        self.model.rewind(self.entries().position);
        self.model.clone()
    }

    /// How often each tool ran, and the tools that ran twice for one action.
    pub(super) fn executions(&self, may_repeat: &[String]) -> (BTreeMap<String, usize>, Vec<String>) {
        let entries = self.entries();
        let (mut tools, mut actions) = (BTreeMap::new(), BTreeMap::new());
        for (tool, action) in &entries.started {
            *tools.entry(tool.clone()).or_default() += 1;
            *actions.entry((tool, action)).or_insert(0_usize) += 1;
        }
        let twice = actions.into_iter().filter(|((tool, _), times)| *times > 1 && !may_repeat.contains(tool));
        (tools, twice.map(|((tool, _), _)| tool.clone()).collect())
    }
}

impl Observer for Ledger {
    fn observe(&self, event: &RunEvent) -> Result<(), BoxError> {
        match event {
            RunEvent::ToolStarted { tool, action_id, .. } => {
                self.entries().started.push((tool.clone(), action_id.clone()));
            }
            RunEvent::HookRan { stage, hook, step, changes, .. } => {
                let run = HookRun { stage: *stage, hook: hook.clone(), step: *step, changes: changes.len() };
                self.entries().hooks.push(run);
            }
            _ => {}
        }
        Ok(())
    }
}
