//! The conversation that runs of a store make together.

use std::sync::Arc;

use super::fold::{End, Stood, fold, replay};
use crate::durable::journal::decode;
use crate::durable::{Page, RunFilter, RunStore};
use crate::error::Error;
use crate::history::{History, HistoryDraft};
use crate::ids::RunId;
use crate::run::close::HistoryPlace;

/// Reads where a run stands, without taking it over.
pub(super) async fn stood(store: &Arc<dyn RunStore>, run_id: &RunId) -> Result<Stood, Error> {
    let stored = store.load(run_id).await?;
    Ok(fold(run_id, decode(&stored)?)?)
}

/// The history that a run continues: of all runs before it, oldest first.
pub(super) async fn before(store: &Arc<dyn RunStore>, continues: Option<RunId>) -> Result<HistoryDraft, Error> {
    let mut chain = Vec::new();
    let mut next = continues;
    while let Some(run_id) = next {
        let stood = stood(store, &run_id).await?;
        let earlier = stood.continues.clone();
        chain.push(stood);
        next = earlier;
    }
    let mut draft = HistoryDraft::new(History::default());
    for stood in chain.iter().rev() {
        stood.replay(&mut draft)?;
        if let Some(End::Failed { closing } | End::Cancelled { closing }) = &stood.end {
            replay(&stood.context.run_id, closing, &mut draft)?;
        }
    }
    Ok(draft)
}

/// The conversation of this name as its runs left it; a new one where there are none.
pub(crate) async fn conversation(store: &Arc<dyn RunStore>, name: &str) -> Result<HistoryPlace, Error> {
    let newest = store.list(&RunFilter::new().conversation(name), Page::newest(1)).await?;
    let Some(last) = newest.runs.into_iter().next() else { return Ok(HistoryPlace::default()) };
    let history = before(store, Some(last.run_id.clone())).await?.into_kept();
    let open = (!last.state.is_ended()).then(|| last.run_id.clone());
    Ok(HistoryPlace { history, open, last: Some(last.run_id) })
}
