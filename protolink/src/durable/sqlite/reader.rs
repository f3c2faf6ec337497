//! The threads that read, beside the one that writes.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, types::Value};

use super::super::{Cursor, Order, Page, Row, RunFilter, RunPage, RunSummary, StoreError, StoredRun};
use super::change::{keys, sequence};
use super::fault::{About, fault};
use super::record::{Record, columns};
use crate::ids::RunId;

/// Something to read, with its answer.
pub(super) type Question = Box<dyn FnOnce(&Connection) + Send>;

/// Reads until every sender is gone.
pub(super) fn read(connection: &Connection, waiting: &Arc<Mutex<Receiver<Question>>>) {
    loop {
        // The guard lives for this statement only: one thread waits, the others read.
        let question = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match question {
            Ok(question) => question(connection),
            Err(_) => return,
        }
    }
}

/// Reads a whole run as it was at one moment.
pub(super) fn load(connection: &Connection, run_id: &RunId) -> Result<StoredRun, StoreError> {
    let snapshot = connection.unchecked_transaction().about(run_id)?;
    let record = Record::find(&snapshot, run_id)?.ok_or_else(|| StoreError::NotFound { run_id: run_id.clone() })?;
    let (first, last) = keys(record.place);
    let sql = "SELECT key, version, checksum, payload FROM rows WHERE key BETWEEN ?1 AND ?2 ORDER BY key";
    let mut statement = snapshot.prepare_cached(sql).about(run_id)?;
    let mut lines = statement.query([first, last]).about(run_id)?;
    let mut rows = Vec::new();
    while let Some(line) = lines.next().about(run_id)? {
        let sequence = sequence(record.place, line.get(0).about(run_id)?);
        rows.push(row(line, sequence).map_err(|error| at(fault(Some(run_id), &error), sequence))?);
    }
    Ok(StoredRun::new(record.summary, rows))
}

fn row(line: &rusqlite::Row<'_>, sequence: u64) -> rusqlite::Result<Row> {
    Ok(Row { sequence, version: line.get(1)?, checksum: line.get(2)?, payload: line.get(3)? })
}

/// Says at which row the damage is.
fn at(error: StoreError, sequence: u64) -> StoreError {
    match error {
        StoreError::Damaged { run_id, reason, .. } => StoreError::Damaged { run_id, sequence: Some(sequence), reason },
        other => other,
    }
}

/// Reads one page of a listing.
pub(super) fn list(connection: &Connection, filter: &RunFilter, page: &Page) -> Result<RunPage, StoreError> {
    let (sql, values) = select(filter, page)?;
    let limit = usize::try_from(page.limit.max(1)).unwrap_or(usize::MAX);
    let mut statement = connection.prepare_cached(&sql).about_store()?;
    let mut lines = statement.query(rusqlite::params_from_iter(values)).about_store()?;
    let mut runs: Vec<RunSummary> = Vec::new();
    let mut last_place = 0;
    while let Some(line) = lines.next().about_store()? {
        let record = Record::read(line, None)?;
        if !filter.matches(&record.summary) {
            continue;
        }
        if runs.len() == limit {
            return Ok(RunPage::new(runs, Some(Cursor::from(last_place.to_string()))));
        }
        last_place = record.place;
        runs.push(record.summary);
    }
    Ok(RunPage::new(runs, None))
}

/// The statement lets through at least what the filter does; what has an index is decided here.
fn select(filter: &RunFilter, page: &Page) -> Result<(String, Vec<Value>), StoreError> {
    let mut sql = concat!("SELECT ", columns!(), " FROM runs WHERE TRUE").to_owned();
    let mut values = Vec::new();
    if let Some(cursor) = &page.after {
        let place: i64 = cursor.as_str().parse().map_err(|_| StoreError::BadCursor)?;
        sql += match page.order {
            Order::OldestFirst => " AND place > ?",
            Order::NewestFirst => " AND place < ?",
        };
        values.push(Value::from(place));
    }
    if let Some(conversation) = &filter.conversation {
        sql += " AND conversation = ?";
        values.push(Value::from(conversation.clone()));
    }
    if let Some(agent) = &filter.agent {
        // With a conversation given, its index is the narrower one.
        sql += if filter.conversation.is_some() { " AND +agent = ?" } else { " AND agent = ?" };
        values.push(Value::from(agent.clone()));
    }
    sql += match page.order {
        Order::OldestFirst => " ORDER BY place",
        Order::NewestFirst => " ORDER BY place DESC",
    };
    Ok((sql, values))
}
