//! Other ways to act on a stored run: what it waits for, what came of an action, and its end.

use std::sync::Arc;

use super::fold::{End, Stood, fold};
use super::history::{before, stood};
use crate::durable::journal::{CallState, Journal, Record};
use crate::durable::{RunState, RunStore, StoreError};
use crate::error::Error;
use crate::history::History;
use crate::ids::{ActionId, RunId};
use crate::outcome::Interruption;
use crate::receipt::{Receipt, ReceiptOutcome};
use crate::run::place::Dropped;
use crate::run::start::Start;
use crate::settings::AgentInner;

pub(crate) fn store_of(agent: &AgentInner) -> Result<Arc<dyn RunStore>, Error> {
    let store = agent.settings.store.as_ref().map(Arc::clone);
    store.ok_or_else(|| Error::NoStore { agent: agent.settings.name.clone() })
}

/// What the run waits for, if it waits.
pub(crate) async fn interruption(agent: &AgentInner, run_id: &RunId) -> Result<Option<Interruption>, Error> {
    let stood = stood(&store_of(agent)?, run_id).await?;
    Ok(if stood.end.is_none() { stood.pending } else { None })
}

/// Says what came of an action of which nobody knows (contract D3, T7).
pub(crate) async fn reconcile(
    agent: &AgentInner,
    run_id: &RunId,
    action_id: &ActionId,
    outcome: ReceiptOutcome,
) -> Result<(), Error> {
    let (mut journal, records) = Journal::acquire(store_of(agent)?, run_id, agent.settings.lease).await?;
    let committed = match reconciled(run_id, records, action_id, outcome) {
        Ok((record, state)) => journal.append_as(&record, state).await.map_err(Error::from),
        Err(error) => Err(error),
    };
    journal.release().await;
    committed
}

/// The receipt of a reconciled action, and the state in which it leaves the run: the one that the run was in.
fn reconciled(
    run_id: &RunId,
    records: Vec<Record>,
    action_id: &ActionId,
    outcome: ReceiptOutcome,
) -> Result<(Record, RunState), Error> {
    let stood = fold(run_id, records)?;
    let refused = |reason| Error::NotResumable { run_id: run_id.clone(), reason };
    let state = match &stood.end {
        None => RunState::Running,
        Some(End::Failed { .. }) => RunState::Failed,
        Some(End::Completed(_)) => return Err(refused("it has its answer")),
        Some(End::Cancelled { .. }) => return Err(refused("it was cancelled")),
    };
    let record = stood.reconcilable(action_id).ok_or_else(|| refused("the action is not an uncertain one"))?;
    let is_done = matches!(record.state, CallState::Done(_));
    if is_done && !matches!(outcome, ReceiptOutcome::Reconciled(_)) {
        return Err(refused("the action's effect has happened; it wants a result"));
    }
    let receipt = Receipt {
        action_id: action_id.clone(),
        call_id: record.call.id.clone(),
        tool: record.call.name.clone(),
        arguments: record.call.arguments.clone(),
        step: stood.step,
        outcome,
    };
    Ok((Record::Receipted { receipt, spent: stood.spent.clone() }, state))
}

/// Ends a run that waits, failed or crashed, and closes its conversation.
pub(crate) async fn cancel_run(agent: &Arc<AgentInner>, run_id: &RunId) -> Result<(), Error> {
    let store = store_of(agent)?;
    let (mut journal, records) = Journal::acquire(Arc::clone(&store), run_id, agent.settings.lease).await?;
    let cancelled = match fold(run_id, records) {
        Ok(stood) => cancel_stood(agent, &store, stood, &mut journal).await,
        Err(error) => Err(error.into()),
    };
    journal.release().await;
    cancelled
}

/// Ends a run that was dropped half-way in this process, if it is the conversation's and does not wait for a person.
pub(crate) async fn cancel_dropped(
    agent: &Arc<AgentInner>,
    dropped: &Dropped,
    conversation: Option<&str>,
) -> Result<(), Error> {
    let store = store_of(agent)?;
    let acquired = Journal::acquire(Arc::clone(&store), &dropped.run_id, agent.settings.lease).await;
    let (mut journal, records) = match acquired {
        // It was dropped before its first commit.
        Err(StoreError::NotFound { .. }) => return Ok(()),
        acquired => acquired?,
    };
    let cancelled = match fold(&dropped.run_id, records) {
        Ok(stood) => {
            let same = stood.context.session.as_deref() == conversation && stood.continues == dropped.continues;
            if same && stood.end.is_none() && stood.pending.is_none() {
                cancel_stood(agent, &store, stood, &mut journal).await
            } else {
                Ok(())
            }
        }
        Err(error) => Err(error.into()),
    };
    journal.release().await;
    cancelled
}

/// Commits the end of a run, and how its conversation is closed.
async fn cancel_stood(
    agent: &Arc<AgentInner>,
    store: &Arc<dyn RunStore>,
    mut stood: Stood,
    journal: &mut Journal,
) -> Result<(), Error> {
    let spent = stood.spent.clone();
    let closing = match stood.end.take() {
        Some(End::Completed(_) | End::Cancelled { .. }) => return Ok(()),
        // The conversation may have gone on from this closing.
        Some(End::Failed { closing }) => closing,
        None => {
            let mut history = before(store, stood.continues.clone()).await?;
            stood.replay(&mut history)?;
            let mut run = Start::new(stood.context.clone()).run(agent, History::default());
            run.draft.history = history;
            run.stand(stood);
            run.close_changes()
        }
    };
    Ok(journal.append(&Record::Cancelled { closing, spent }).await?)
}
