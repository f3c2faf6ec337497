//! The conversation that runs of a store make together.

use std::collections::HashSet;
use std::sync::Arc;

use super::fold::{End, Stood, damaged, fold, replay};
use crate::durable::journal::decode;
use crate::durable::{Page, RunFilter, RunStore};
use crate::error::Error;
use crate::history::{History, HistoryDraft};
use crate::ids::RunId;
use crate::run::place::{HistoryPlace, Last};

/// Reads where a run stands, without taking it over.
pub(super) async fn stood(store: &Arc<dyn RunStore>, run_id: &RunId) -> Result<Stood, Error> {
    let stored = store.load(run_id).await?;
    Ok(fold(run_id, decode(&stored)?)?)
}

/// The history that a run continues: of all runs before it, oldest first.
pub(super) async fn before(store: &Arc<dyn RunStore>, continues: Option<RunId>) -> Result<HistoryDraft, Error> {
    let mut chain: Vec<Stood> = Vec::new();
    let mut seen = HashSet::new();
    let mut next = continues;
    while let Some(run_id) = next {
        let stood = stood(store, &run_id).await?;
        if !seen.insert(run_id.clone()) {
            return Err(damaged(&run_id, 1, "it continues a run that continues it").into());
        }
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
pub(crate) async fn conversation(store: &Arc<dyn RunStore>, name: String) -> Result<HistoryPlace, Error> {
    let newest = store.list(&RunFilter::new().conversation(name.as_str()), Page::newest(1)).await?;
    let mut place = HistoryPlace::named(name);
    let Some(last) = newest.runs.into_iter().next() else { return Ok(place) };
    place.history = before(store, Some(last.run_id.clone())).await?.into_kept();
    place.open = (!last.state.is_ended()).then(|| last.run_id.clone());
    // A row that came in between is seen by the next look.
    place.last = Some(Last { run_id: last.run_id, rows: Some(last.rows) });
    Ok(place)
}
