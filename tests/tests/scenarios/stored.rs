//! Commands on a run that a store keeps.

use protolink::durable::RunStore;
use protolink::durable::{CallState, Record, decode};
use protolink::{ActionId, Error, Interruption, ResumeBuilder, RunId};
use serde_json::{Map, Value};

use crate::build::budget;
use crate::not_here::{NotHere, broken};
use crate::player::Player;
use crate::seen::{Seen, SeenError};
use crate::setup::LEASE;
use crate::world::Entry;

impl Player {
    fn run_id(&self, given: Option<&str>) -> Result<RunId, NotHere> {
        match given {
            Some(run_id) => Ok(RunId::from(run_id)),
            None => {
                Ok(RunId::from(self.world.last_run()?.ok_or_else(|| NotHere::unsupported("no run to go on with"))?))
            }
        }
    }

    pub(crate) async fn resume(
        &mut self,
        run_id: Option<&str>,
        approved: Option<bool>,
        answer: Option<&str>,
        limits: Option<&Map<String, Value>>,
    ) -> Result<Seen, NotHere> {
        let run_id = self.run_id(run_id)?;
        let waits = self.agent.interruption(&run_id).await.ok().flatten();
        let waits = match waits {
            Some(waits) => Some(waits),
            None => self.world.last_interruption()?,
        };
        let slice = self.setup.yield_after_steps.map(|steps| self.world.last_slice().map(|made| made + steps));
        let slice = slice.transpose()?;
        if let Some(steps) = slice {
            self.world.note(&Entry::Slice { steps })?;
        }
        // A killed worker seems to own its run until its lease has run out.
        let mut patience = if self.after_a_kill { 40 } else { 0 };
        loop {
            let mut resume = self.agent.resume(&run_id);
            if let (Some(waits), Some(answer)) = (&waits, answer) {
                resume = resume.answer(waits, answer);
            }
            if let Some(approved) = approved {
                // A decision is about a request, and without one it cannot be written down (contract D4).
                let Some(waits) = &waits else {
                    let what = SeenError::new("a type", &["DurableExecutionError", "ValueError"], "nothing to decide");
                    return Ok(Seen { state: Some("failed"), error: Some(what), ..Seen::default() });
                };
                resume = decided(resume, waits, approved);
            }
            if limits.is_some() || slice.is_some() {
                resume = resume.budget(budget(&self.setup, limits, slice)?);
            }
            let result = resume.await;
            if patience > 0 && matches!(result, Err(Error::RunBusy { .. })) {
                patience -= 1;
                tokio::time::sleep(LEASE / 10).await;
                continue;
            }
            self.after_a_kill = false;
            return self.ended(result, limits);
        }
    }

    pub(crate) async fn reconcile(&mut self, run_id: Option<&str>, result: &Value) -> Result<Seen, NotHere> {
        let run_id = self.run_id(run_id)?;
        let Some(action) = self.uncertain(&run_id).await? else {
            let what = SeenError::new("no uncertain action", &["DurableExecutionError", "ValueError"], "");
            return Ok(Seen { error: Some(what), ..Seen::default() });
        };
        let mut patience = if self.after_a_kill { 40 } else { 0 };
        loop {
            match self.agent.reconcile(&run_id, &action, result).await {
                Err(Error::RunBusy { .. }) if patience > 0 => {
                    patience -= 1;
                    tokio::time::sleep(LEASE / 10).await;
                }
                Ok(()) => return Ok(Seen::default()),
                Err(error) => return Ok(Seen { error: Some(SeenError::of(&error)), ..Seen::default() }),
            }
        }
    }

    /// The action of which nobody knows whether it happened.
    async fn uncertain(&self, run_id: &RunId) -> Result<Option<ActionId>, NotHere> {
        let mut open = None;
        for record in self.records(run_id).await? {
            match record {
                Record::Replied(replied) => {
                    let intended = replied.calls.iter().find(|call| call.state == CallState::Intended);
                    open = intended.map(|call| call.action_id.clone());
                }
                Record::Dispatched { actions, .. } => open = actions.first().cloned(),
                Record::Receipted { receipt, .. } if receipt.result().is_some() => open = None,
                _ => {}
            }
        }
        Ok(open)
    }

    async fn records(&self, run_id: &RunId) -> Result<Vec<Record>, NotHere> {
        let Some(store) = &self.store else { return Ok(Vec::new()) };
        let stored = store.load(run_id).await.map_err(NotHere::unsupported)?;
        decode(&stored).map_err(NotHere::unsupported)
    }

    pub(crate) async fn checkpoint(&self, run_id: Option<&str>) -> Result<Seen, NotHere> {
        let run_id = self.run_id(run_id)?;
        let records = self.records(&run_id).await?;
        let records = serde_json::to_value(&records).map_err(broken)?;
        let kinds = |record: &Value| record.as_object().and_then(|record| record.keys().next().cloned());
        let shown = records.as_array().into_iter().flatten().filter_map(kinds).map(Value::from).collect();
        Ok(Seen { shown: Some(Value::Array(shown)), ..Seen::default() })
    }
}

fn decided<'c>(resume: ResumeBuilder<'c>, waits: &Interruption, approved: bool) -> ResumeBuilder<'c> {
    if approved { resume.approve(waits) } else { resume.reject(waits) }
}
