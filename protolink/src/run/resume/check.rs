//! What is refused before anything is committed.

use std::sync::Arc;

use super::builder::Response;
use super::fold::{At, Stood};
use crate::durable::{Page, RunFilter, RunStore};
use crate::error::Error;
use crate::ids::RunId;
use crate::outcome::{Interruption, InterruptionRequest};
use crate::run::decide::call_digest;
use crate::run::place::HistoryPlace;

/// Refuses a run of another conversation.
pub(super) fn same_conversation(run_id: &RunId, place: &HistoryPlace, session: Option<&str>) -> Result<(), Error> {
    if place.name.as_deref() == session {
        return Ok(());
    }
    Err(Error::NotResumable { run_id: run_id.clone(), reason: "it belongs to another conversation" })
}

/// Refuses a run whose conversation has gone on without it.
pub(super) async fn superseded(store: &Arc<dyn RunStore>, stood: &Stood) -> Result<(), Error> {
    let Some(conversation) = &stood.context.session else { return Ok(()) };
    let filter = RunFilter::new().conversation(conversation.as_str());
    let newest = store.list(&filter, Page::newest(1)).await?;
    match newest.runs.first() {
        Some(newest) if newest.run_id != stood.context.run_id => {
            let run_id = stood.context.run_id.clone();
            Err(Error::NotResumable { run_id, reason: "its conversation has gone on without it" })
        }
        _ => Ok(()),
    }
}

/// Refuses a response that is not for what the run waits for (contract D4).
pub(super) fn check_response(stood: &Stood, response: Option<&(Interruption, Response)>) -> Result<(), Error> {
    let Some((given, response)) = response else { return Ok(()) };
    let stale = |reason| Err(Error::StaleResponse { run_id: stood.context.run_id.clone(), reason });
    let Some(pending) = &stood.pending else { return stale("it waits for nothing") };
    if given.run_id != pending.run_id {
        return stale("the response is for another run");
    }
    if given.id != pending.id || given.action_id != pending.action_id {
        return stale("the response is for an earlier request");
    }
    // The digest of what is stored now, not of what the interruption says of itself.
    let stored = match &stood.at {
        At::Calls(turn) => turn.calls.iter().find(|call| call.action_id == pending.action_id),
        _ => None,
    };
    let stored = stored.map(|record| call_digest(&record.call.name, &record.call.arguments));
    if stored != Some(given.digest) || pending.digest != given.digest || pending.request != given.request {
        return stale("the tool or its arguments are not the ones that were asked about");
    }
    let question = matches!(pending.request, InterruptionRequest::Question { .. });
    match response {
        Response::Answer(_) if !question => stale("it waits for an approval, not for an answer"),
        Response::Approve if question => stale("it waits for an answer, not for an approval"),
        _ => Ok(()),
    }
}
