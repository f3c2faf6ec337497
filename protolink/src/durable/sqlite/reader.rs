//! The threads that read, beside the one that writes.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension};

use super::super::{Cursor, Order, Page, Row, RunFilter, RunPage, RunSummary, StoreError, StoredRun};
use super::fault::{About, fault};
use super::record::{Record, columns, signed};
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
    let sql = "SELECT version, checksum, payload, place, sequence, previous FROM rows WHERE key = ?1";
    let mut statement = snapshot.prepare_cached(sql).about(run_id)?;
    let mut rows = Vec::new();
    let mut key = record.last_key;
    // From the last row back to the first, each leads to the one before.
    for sequence in (1..=record.summary.rows).rev() {
        let here = (record.place, signed(sequence));
        let found = statement
            .query_row([key], |line| {
                let row = Row { sequence, version: line.get(0)?, checksum: line.get(1)?, payload: line.get(2)? };
                Ok((row, (line.get(3)?, line.get(4)?), line.get(5)?))
            })
            .optional()
            .map_err(|error| at(fault(Some(run_id), &error), sequence))?;
        match found {
            Some((row, place, previous)) if place == here => {
                rows.push(row);
                key = previous;
            }
            _ => {
                let (run_id, reason) = (run_id.clone(), "it is not where it was".to_owned());
                return Err(StoreError::Damaged { run_id, sequence: Some(sequence), reason });
            }
        }
    }
    rows.reverse();
    Ok(StoredRun::new(record.summary, rows))
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
