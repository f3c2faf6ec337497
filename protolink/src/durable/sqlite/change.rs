//! The changes that a store makes, each inside an open transaction.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use super::super::lease::{Holding, lost};
use super::super::{Clock, Lease, NewRun, Row, RunState, RunSummary, StoreError, Timestamp};
use super::fault::About;
use super::record::{Record, columns, signed};
use crate::ids::RunId;

/// How many bits of a row's key are its sequence; the others are the place of its run.
const SEQUENCE_BITS: u32 = 32;

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
    let record = Record {
        place: signed(ticket),
        summary: RunSummary::new(run.clone(), now),
        holding: Holding::grant(ticket, grant.owner, now, grant.ttl),
    };
    record.insert(connection)?;
    insert_row(connection, &record, first)?;
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
    insert_row(connection, &record, row)?;
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
    match Record::find(connection, run_id) {
        Ok(Some(record)) => record.holding.refuse_while_live(run_id, clock.now())?,
        // Nobody can commit to a run whose line is damaged, and deleting is the way to be rid of it.
        Ok(None) | Err(StoreError::Damaged { .. }) => {}
        Err(error) => return Err(error),
    }
    delete_at(connection, place).about(run_id)?;
    Ok(true)
}

/// Deletes some of the runs that ended before `ended_before`; how many.
pub(super) fn prune(connection: &Connection, ended_before: Timestamp, clock: &dyn Clock) -> Result<u64, StoreError> {
    const SQL: &str = concat!(
        "SELECT ",
        columns!(),
        " FROM runs WHERE ended_at < ?1 AND (expires_at IS NULL OR expires_at <= ?2) LIMIT ?3"
    );
    let mut places = Vec::new();
    {
        let mut statement = connection.prepare_cached(SQL).about_store()?;
        let now = clock.now().as_millis();
        let mut lines =
            statement.query(params![ended_before.as_millis(), now, signed(PRUNED_AT_ONCE)]).about_store()?;
        while let Some(line) = lines.next().about_store()? {
            places.push(Record::read(line, None)?.place);
        }
    }
    for place in &places {
        delete_at(connection, *place).about_store()?;
    }
    Ok(places.len() as u64)
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
    // Behind the last ticket the keys of rows would run over.
    match u64::try_from(ticket) {
        Ok(ticket) if ticket < 1 << (63 - SEQUENCE_BITS) => Ok(ticket),
        _ => Err(StoreError::Full { run_id: Some(run_id.clone()) }),
    }
}

/// The keys that the rows of the run at `place` can have.
pub(super) fn keys(place: i64) -> (i64, i64) {
    let first = place << SEQUENCE_BITS;
    (first, first | ((1 << SEQUENCE_BITS) - 1))
}

/// The sequence in a row's key.
pub(super) fn sequence(place: i64, key: i64) -> u64 {
    u64::try_from(key - keys(place).0).unwrap_or(0)
}

fn insert_row(connection: &Connection, record: &Record, row: &Row) -> Result<(), StoreError> {
    let run_id = &record.summary.run_id;
    let (first, last) = keys(record.place);
    let key = first.saturating_add(signed(row.sequence));
    if key > last {
        return Err(StoreError::Full { run_id: Some(run_id.clone()) });
    }
    let sql = "INSERT INTO rows (key, version, checksum, payload) VALUES (?1, ?2, ?3, ?4)";
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(params![key, row.version, row.checksum, row.payload]))
        .map_err(|error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::TooBig) => {
                StoreError::TooLarge { run_id: run_id.clone(), sequence: row.sequence, bytes: row.payload.len() }
            }
            _ => super::fault::fault(Some(run_id), &error),
        })?;
    Ok(())
}

fn delete_at(connection: &Connection, place: i64) -> rusqlite::Result<()> {
    let (first, last) = keys(place);
    connection.prepare_cached("DELETE FROM rows WHERE key BETWEEN ?1 AND ?2")?.execute([first, last])?;
    connection.prepare_cached("DELETE FROM runs WHERE place = ?1")?.execute([place])?;
    Ok(())
}
