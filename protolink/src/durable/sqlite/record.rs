//! One line of the table `runs`, read and written as a whole.

use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest, Sha256};

use super::super::lease::{Holder, Holding};
use super::super::{NewRun, RunSummary, StoreError, Timestamp};
use super::fault::{About, fault};
use crate::ids::RunId;

/// All that the table `runs` holds of one run.
pub(super) struct Record {
    /// The place in the order of creation.
    pub(super) place: i64,
    pub(super) summary: RunSummary,
    /// Where in the table `rows` the last row is.
    pub(super) last_key: i64,
    pub(super) holding: Holding,
}

/// The columns, in the order in which [`Record::read`] expects them.
macro_rules! columns {
    () => {
        "place, run_id, agent, conversation, labels, state, last_row, last_key, created_at, \
         updated_at, ended_at, epoch, owner, granted_at, expires_at, digest"
    };
}
pub(super) use columns;

const FIND: &str = concat!("SELECT ", columns!(), " FROM runs WHERE run_id = ?1");

const INSERT: &str = concat!(
    "INSERT INTO runs (",
    columns!(),
    ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)"
);

const UPDATE: &str = "UPDATE runs SET state = ?2, last_row = ?3, last_key = ?4, updated_at = ?5, \
     ended_at = ?6, epoch = ?7, owner = ?8, granted_at = ?9, expires_at = ?10, digest = ?11 WHERE place = ?1";

impl Record {
    /// Looks the run up; nothing when there is none of that name.
    pub(super) fn find(connection: &Connection, run_id: &RunId) -> Result<Option<Self>, StoreError> {
        let mut statement = connection.prepare_cached(FIND).about(run_id)?;
        let found =
            statement.query_row([run_id.as_str()], |row| Ok(Self::read(row, Some(run_id)))).optional().about(run_id)?;
        let Some(record) = found.transpose()? else {
            return Ok(None);
        };
        // The index led here; if the line has another name, index and table have parted.
        if record.summary.run_id == *run_id { Ok(Some(record)) } else { Err(damaged(run_id)) }
    }

    /// Reads a line. `run_id` is the run that was looked for, if it was one.
    pub(super) fn read(row: &Row<'_>, run_id: Option<&RunId>) -> Result<Self, StoreError> {
        let named = row.get::<_, String>(1).map(RunId::from).ok();
        let run_id = run_id.or(named.as_ref());
        let (record, digest) = Self::columns(row).map_err(|error| fault(run_id, &error))?;
        if record.digest() == digest { Ok(record) } else { Err(damaged(&record.summary.run_id)) }
    }

    fn columns(row: &Row<'_>) -> rusqlite::Result<(Self, [u8; 32])> {
        let time = |index: usize| row.get::<_, i64>(index).map(Timestamp::from_millis);
        let unusable =
            |column: usize| rusqlite::Error::InvalidColumnType(column, String::new(), rusqlite::types::Type::Text);
        let new_run = NewRun {
            run_id: RunId::from(row.get::<_, String>(1)?),
            agent: row.get(2)?,
            conversation: row.get(3)?,
            labels: serde_json::from_str(row.get_ref(4)?.as_str()?).map_err(|_| unusable(4))?,
        };
        let mut summary = RunSummary::new(new_run, time(8)?);
        summary.state = row.get_ref(5)?.as_str()?.parse().map_err(|_| unusable(5))?;
        summary.rows = unsigned(row, 6)?;
        summary.updated_at = time(9)?;
        summary.ended_at = row.get::<_, Option<i64>>(10)?.map(Timestamp::from_millis);
        let holder = match row.get::<_, Option<String>>(12)? {
            None => None,
            Some(owner) => Some(Holder { owner, granted_at: time(13)?, expires_at: time(14)? }),
        };
        let holding = Holding { epoch: unsigned(row, 11)?, holder };
        Ok((Self { place: row.get(0)?, last_key: row.get(7)?, summary, holding }, row.get(15)?))
    }

    /// Writes a new line.
    pub(super) fn insert(&self, connection: &Connection) -> Result<(), StoreError> {
        let summary = &self.summary;
        let holder = self.holding.holder.as_ref();
        connection
            .prepare_cached(INSERT)
            .and_then(|mut statement| {
                statement.execute(params![
                    self.place,
                    summary.run_id.as_str(),
                    summary.agent,
                    summary.conversation,
                    serde_json::json!(summary.labels).to_string(),
                    summary.state.as_str(),
                    signed(summary.rows),
                    self.last_key,
                    summary.created_at.as_millis(),
                    summary.updated_at.as_millis(),
                    summary.ended_at.map(Timestamp::as_millis),
                    signed(self.holding.epoch),
                    holder.map(|holder| &holder.owner),
                    holder.map(|holder| holder.granted_at.as_millis()),
                    holder.map(|holder| holder.expires_at.as_millis()),
                    self.digest(),
                ])
            })
            .about(&summary.run_id)?;
        Ok(())
    }

    /// Writes what can change in a line.
    pub(super) fn update(&self, connection: &Connection) -> Result<(), StoreError> {
        let summary = &self.summary;
        let holder = self.holding.holder.as_ref();
        connection
            .prepare_cached(UPDATE)
            .and_then(|mut statement| {
                statement.execute(params![
                    self.place,
                    summary.state.as_str(),
                    signed(summary.rows),
                    self.last_key,
                    summary.updated_at.as_millis(),
                    summary.ended_at.map(Timestamp::as_millis),
                    signed(self.holding.epoch),
                    holder.map(|holder| &holder.owner),
                    holder.map(|holder| holder.granted_at.as_millis()),
                    holder.map(|holder| holder.expires_at.as_millis()),
                    self.digest(),
                ])
            })
            .about(&summary.run_id)?;
        Ok(())
    }

    /// Covers the whole line. SQLite keeps no checksum of its own, so without this a flipped bit in a line could
    /// move a run to another conversation, or end it, without anybody noticing.
    fn digest(&self) -> [u8; 32] {
        let summary = &self.summary;
        let holder = self.holding.holder.as_ref();
        let mut line = Line(Sha256::new());
        line.number(self.place);
        line.text(summary.run_id.as_str());
        line.text(&summary.agent);
        line.optional(summary.conversation.as_deref(), Line::text);
        line.number(signed(summary.labels.len() as u64));
        for (key, value) in &summary.labels {
            line.text(key);
            line.text(value);
        }
        line.text(summary.state.as_str());
        line.number(signed(summary.rows));
        line.number(self.last_key);
        line.number(summary.created_at.as_millis());
        line.number(summary.updated_at.as_millis());
        line.optional(summary.ended_at, |line, ended| {
            line.number(ended.as_millis());
        });
        line.number(signed(self.holding.epoch));
        line.optional(holder, |line, holder| {
            line.text(&holder.owner);
            line.number(holder.granted_at.as_millis());
            line.number(holder.expires_at.as_millis());
        });
        line.0.finalize().into()
    }
}

/// Hashes values one after another so that no two different lines hash the same bytes.
struct Line(Sha256);

impl Line {
    fn number(&mut self, number: i64) {
        self.0.update(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(signed(text.len() as u64));
        self.0.update(text);
    }

    fn optional<T>(&mut self, value: Option<T>, hash: impl FnOnce(&mut Self, T)) {
        self.number(i64::from(value.is_some()));
        if let Some(value) = value {
            hash(self, value);
        }
    }
}

/// Numbers count from zero and stay far below the limit of SQLite, whose integers are signed.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

fn damaged(run_id: &RunId) -> StoreError {
    StoreError::Damaged {
        run_id: run_id.clone(),
        sequence: None,
        reason: "its line in the table `runs` is not what was written".to_owned(),
    }
}
