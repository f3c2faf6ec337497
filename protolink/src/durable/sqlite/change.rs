//! The changes that a store makes, each inside an open transaction.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use super::super::lease::{Holding, lost};
use super::super::{Clock, Lease, NewRun, Row, RunState, RunSummary, StoreError, Timestamp};
use super::fault::{About, fault};
use super::record::{Record, columns, signed};
use crate::ids::RunId;

/// How many runs a pruning transaction deletes at most, so that appends get their turn in between.
pub(super) const PRUNED_AT_ONCE: u64 = 64;

pub(super) fn create(
    connection: &Connection,
    run: &NewRun,
    first: &Row,
    grant: Grant<'_>,
) -> Result<Lease, StoreError> {
    let run_id = &run.run_id;
    if find_place(connection, run_id)?.is_some() {
        return Err(StoreError::Exists { run_id: run_id.clone() });
    }
    if first.sequence != 1 {
        let run_id = run_id.clone();
        return Err(StoreError::Conflict { run_id, sequence: first.sequence, expected: 1 });
    }
    let ticket = ticket(connection, run_id, 0)?;
    let now = grant.clock.now();
    let mut record = Record {
        place: signed(ticket),
        summary: RunSummary::new(run.clone(), now),
        last_key: 0,
        holding: Holding::grant(ticket, grant.owner, now, grant.ttl),
    };
    insert_row(connection, &mut record, first)?;
    record.insert(connection)?;
    Ok(record.holding.lease(run_id))
}

/// What a lease is granted by.
#[derive(Clone, Copy)]
pub(super) struct Grant<'a> {
    pub(super) clock: &'a dyn Clock,
    pub(super) owner: &'a str,
    pub(super) ttl: Duration,
}

/// The outer result is the change's, the inner one the answer: a refusal can leave a change behind.
pub(super) fn acquire(
    connection: &Connection,
    run_id: &RunId,
    grant: Grant<'_>,
) -> Result<Result<Lease, StoreError>, StoreError> {
    let mut record =
        Record::find(connection, run_id)?.ok_or_else(|| StoreError::NotFound { run_id: run_id.clone() })?;
    let now = grant.clock.now();
    let moved = record.holding.follow_clock_back(now);
    if let Err(busy) = record.holding.refuse_while_live(run_id, now) {
        return if moved { record.update(connection).map(|()| Err(busy)) } else { Err(busy) };
    }
    let epoch = ticket(connection, run_id, record.holding.epoch)?;
    record.holding = Holding::grant(epoch, grant.owner, now, grant.ttl);
    record.update(connection)?;
    Ok(Ok(record.holding.lease(run_id)))
}

pub(super) fn renew(
    connection: &Connection,
    lease: &Lease,
    clock: &dyn Clock,
    ttl: Duration,
) -> Result<Lease, StoreError> {
    let mut record = Record::find(connection, lease.run_id())?.ok_or_else(|| lost(lease))?;
    let renewed = record.holding.renew(lease, clock.now(), ttl)?;
    record.update(connection)?;
    Ok(renewed)
}

pub(super) fn append(
    connection: &Connection,
    lease: &Lease,
    row: &Row,
    state: RunState,
    clock: &dyn Clock,
) -> Result<(), StoreError> {
    let mut record = Record::find(connection, lease.run_id())?.ok_or_else(|| lost(lease))?;
    let now = clock.now();
    record.holding.check(lease, now)?;
    let expected = record.summary.rows.saturating_add(1);
    if row.sequence != expected {
        let run_id = lease.run_id().clone();
        return Err(StoreError::Conflict { run_id, sequence: row.sequence, expected });
    }
    record.summary.appended(state, now);
    insert_row(connection, &mut record, row)?;
    record.update(connection)
}

pub(super) fn release(connection: &Connection, lease: &Lease) -> Result<(), StoreError> {
    let Some(mut record) = Record::find(connection, lease.run_id())? else {
        return Ok(());
    };
    if record.holding.release(lease) { record.update(connection) } else { Ok(()) }
}

pub(super) fn delete(connection: &Connection, run_id: &RunId, clock: &dyn Clock) -> Result<bool, StoreError> {
    let Some(place) = find_place(connection, run_id)? else {
        return Ok(false);
    };
    let last_key = match Record::find(connection, run_id) {
        Ok(Some(record)) => {
            record.holding.refuse_while_live(run_id, clock.now())?;
            Some(record.last_key)
        }
        // Nobody can commit to a run whose line is damaged, and deleting is the way to be rid of it.
        Ok(None) | Err(StoreError::Damaged { .. }) => None,
        Err(error) => return Err(error),
    };
    delete_at(connection, place, last_key).about(run_id)?;
    Ok(true)
}

/// Deletes some of the runs that ended before `ended_before`; how many.
pub(super) fn prune(connection: &Connection, ended_before: Timestamp, clock: &dyn Clock) -> Result<u64, StoreError> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM runs WHERE ended_at < ?1 AND (expires_at IS NULL OR expires_at <= ?2) LIMIT ?3"
    );
    let mut ended = Vec::new();
    {
        let mut statement = connection.prepare_cached(SQL).about_store()?;
        let now = clock.now().as_millis();
        let mut lines =
            statement.query(params![ended_before.as_millis(), now, signed(PRUNED_AT_ONCE)]).about_store()?;
        while let Some(line) = lines.next().about_store()? {
            ended.push(Record::read(line, None)?);
        }
    }
    for run in &ended {
        delete_at(connection, run.place, Some(run.last_key)).about(&run.summary.run_id)?;
    }
    Ok(ended.len() as u64)
}

fn find_place(connection: &Connection, run_id: &RunId) -> Result<Option<i64>, StoreError> {
    connection
        .prepare_cached("SELECT place FROM runs WHERE run_id = ?1")
        .and_then(|mut statement| statement.query_row([run_id.as_str()], |line| line.get(0)).optional())
        .about(run_id)
}

/// The next number of the store, higher than any that was given: the place of a new run, and the epoch of a lease.
fn ticket(connection: &Connection, run_id: &RunId, above: u64) -> Result<u64, StoreError> {
    let sql = "UPDATE meta SET value = max(value, ?1) + 1 WHERE name = 'tickets' RETURNING value";
    let ticket: i64 = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row([signed(above)], |line| line.get(0)))
        .about(run_id)?;
    u64::try_from(ticket)
        .map_err(|_| StoreError::StoreDamaged { reason: "its count of tickets is not what was written".to_owned() })
}

/// Writes `row` and has the record lead to it.
fn insert_row(connection: &Connection, record: &mut Record, row: &Row) -> Result<(), StoreError> {
    let run_id = &record.summary.run_id;
    let sql = "INSERT INTO rows (place, sequence, previous, version, checksum, payload) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| {
            statement.execute(params![
                record.place,
                signed(row.sequence),
                record.last_key,
                row.version,
                row.checksum,
                row.payload
            ])
        })
        .map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::TooBig) => {
                StoreError::TooLarge { run_id: run_id.clone(), sequence: row.sequence, bytes: row.payload.len() }
            }
            _ => fault(Some(run_id), &error),
        })?;
    record.last_key = connection.last_insert_rowid();
    Ok(())
}

/// Deletes the run at `place`, following its rows from the last on; without a last one, or where a row leads astray,
/// by looking at all the rows of the store.
fn delete_at(connection: &Connection, place: i64, last_key: Option<i64>) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached("DELETE FROM rows WHERE key = ?1 AND place = ?2 RETURNING previous")?;
    let mut key = last_key;
    while let Some(at) = key.filter(|key| *key != 0) {
        key = delete.query_row([at, place], |line| line.get(0)).optional()?;
    }
    if key.is_none() {
        connection.execute("DELETE FROM rows WHERE place = ?1", [place])?;
    }
    connection.prepare_cached("DELETE FROM runs WHERE place = ?1")?.execute([place])?;
    Ok(())
}
