//! The layout of the file, and how a connection to it is set up.

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::super::StoreError;
use super::fault::{About, fault};

/// Marks the file as ours in its header: "plnk".
const APPLICATION_ID: i64 = 0x706c_6e6b;

/// The layout that this version writes and the newest that it reads.
pub(super) const LAYOUT: u32 = 1;

/// The tables, each as SQLite will remember it.
///
/// Rows stand in the order in which they were committed, whichever run they are of, and each leads back to the one
/// before it in its run; `runs` leads to the last. So the rows of many runs that commit together share pages, where
/// an index by run would make each of them write a page of its own. The view is for people with the `sqlite3` shell.
const OBJECTS: [(&str, &str); 7] = [
    ("meta", "CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID"),
    (
        "runs",
        "CREATE TABLE runs (\
           place INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, conversation TEXT, \
           labels TEXT NOT NULL, state TEXT NOT NULL, last_row INTEGER NOT NULL, last_key INTEGER NOT NULL, created_at INTEGER NOT NULL, \
           updated_at INTEGER NOT NULL, ended_at INTEGER, epoch INTEGER NOT NULL, owner TEXT, \
           granted_at INTEGER, expires_at INTEGER, digest BLOB NOT NULL) STRICT",
    ),
    ("runs_by_agent", "CREATE INDEX runs_by_agent ON runs (agent)"),
    ("runs_by_conversation", "CREATE INDEX runs_by_conversation ON runs (conversation) WHERE conversation IS NOT NULL"),
    ("runs_by_end", "CREATE INDEX runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL"),
    (
        "rows",
        "CREATE TABLE rows (\
           key INTEGER PRIMARY KEY, place INTEGER NOT NULL, sequence INTEGER NOT NULL, \
           previous INTEGER NOT NULL, version INTEGER NOT NULL, checksum BLOB NOT NULL, payload TEXT NOT NULL) STRICT",
    ),
    (
        "journal",
        "CREATE VIEW journal AS SELECT run_id, sequence, version, payload \
           FROM runs JOIN rows USING (place) ORDER BY place, sequence",
    ),
];

/// What a connection is set up by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) busy_timeout: Duration,
    pub(super) max_bytes: Option<u64>,
}

/// Makes sure that the file is a run store that this version can read and write, and makes it one if it is empty.
/// Of a file that is not ours, nothing is changed.
pub(super) fn prepare(connection: &mut Connection, settings: Settings) -> Result<(), StoreError> {
    connection.busy_timeout(settings.busy_timeout).about_store()?;
    let empty = !is_ours(connection)?;
    if connection.is_readonly("main").about_store()? {
        return Err(StoreError::ReadOnly { run_id: None });
    }
    use_write_ahead_log(connection, settings.busy_timeout)?;
    set_up(connection)?;
    if empty {
        create(connection)?;
    }
    check(connection)?;
    if let Some(bytes) = settings.max_bytes {
        let page_size: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0)).about_store()?;
        let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page_size.max(1);
        set(connection, "max_page_count", &pages.max(1).to_string())?;
    }
    Ok(())
}

/// Sets up a connection that only reads a file that [`prepare`] has seen.
pub(super) fn prepare_reading(connection: &Connection, settings: Settings) -> Result<(), StoreError> {
    connection.busy_timeout(settings.busy_timeout).about_store()?;
    set_up(connection)?;
    set(connection, "query_only", "ON")
}

fn set_up(connection: &Connection) -> Result<(), StoreError> {
    connection.set_prepared_statement_cache_capacity(32);
    for (name, value) in [
        // A commit is acknowledged when the log is on the disk, through the drive's own cache on Apple systems.
        ("synchronous", "FULL"),
        ("fullfsync", "ON"),
        ("checkpoint_fullfsync", "ON"),
        // What is deleted is overwritten.
        ("secure_delete", "ON"),
        // The log shrinks again after a large row.
        ("journal_size_limit", "67108864"),
        // A damaged or forged file is to be found out, not obeyed.
        ("cell_size_check", "ON"),
        ("trusted_schema", "OFF"),
    ] {
        set(connection, name, value)?;
    }
    Ok(())
}

/// Some settings answer with their new value and some with nothing.
fn set(connection: &Connection, name: &str, value: &str) -> Result<(), StoreError> {
    connection.pragma_update(None, name, value).about_store()
}

/// Whether the file is a run store; `false` when it is still empty.
fn is_ours(connection: &Connection) -> Result<bool, StoreError> {
    if application_id(connection)? == APPLICATION_ID {
        return Ok(true);
    }
    let objects: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).about_store()?;
    // Read again: another process may have made the store between the two looks.
    match application_id(connection)? {
        APPLICATION_ID => Ok(true),
        0 if objects == 0 => Ok(false),
        id => Err(StoreError::Foreign { reason: format!("it is a SQLite file of another application (id {id})") }),
    }
}

fn application_id(connection: &Connection) -> Result<i64, StoreError> {
    connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(|error| {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StoreError::Foreign { reason: "it is no SQLite file".to_owned() },
            _ => fault(None, &error),
        }
    })
}

/// Two processes may open a new file at once, and SQLite does not wait by itself while the journal mode changes.
fn use_write_ahead_log(connection: &Connection, patience: Duration) -> Result<(), StoreError> {
    let deadline = Instant::now() + patience;
    loop {
        let mode: rusqlite::Result<String> =
            connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0));
        match mode.map_err(|error| fault(None, &error)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let reason = format!("no write-ahead log here (journal mode `{mode}`)");
                return Err(StoreError::io(None, reason));
            }
            Err(StoreError::Locked { .. }) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error),
        }
    }
}

fn create(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).about_store()?;
    // Another process may have been first.
    if !is_ours(&transaction)? {
        for (_, sql) in OBJECTS {
            transaction.execute_batch(sql).about_store()?;
        }
        transaction.execute("INSERT INTO meta VALUES ('layout', ?1), ('tickets', 0)", [LAYOUT]).about_store()?;
        set(&transaction, "application_id", &APPLICATION_ID.to_string())?;
    }
    transaction.commit().about_store()
}

fn check(connection: &Connection) -> Result<(), StoreError> {
    let damaged = |reason: String| StoreError::StoreDamaged { reason };
    let layout: i64 = connection
        .query_row("SELECT value FROM meta WHERE name = 'layout'", [], |row| row.get(0))
        .map_err(|error| match error {
            rusqlite::Error::QueryReturnedNoRows => damaged("its layout is not told".to_owned()),
            error => fault(None, &error),
        })?;
    let never_was = || damaged(format!("there never was a layout {layout}"));
    let found = u32::try_from(layout).map_err(|_| never_was())?;
    match found.cmp(&LAYOUT) {
        Ordering::Equal => {}
        Ordering::Greater => return Err(StoreError::NewerStore { found, supported: LAYOUT }),
        Ordering::Less => return Err(never_was()),
    }
    for (name, expected) in OBJECTS {
        let sql: Option<String> = connection
            .query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0))
            .map_err(|error| match error {
                rusqlite::Error::QueryReturnedNoRows => damaged(format!("`{name}` is missing")),
                error => fault(None, &error),
            })?;
        if sql.as_deref() != Some(expected) {
            return Err(damaged(format!("`{name}` is not as it was")));
        }
    }
    // A damaged index would have a run that is there pass for one that is not. The table has a line a run, and is
    // read in no time; the rows are checked as they are loaded.
    let found: String = connection.query_row("PRAGMA integrity_check(runs)", [], |row| row.get(0)).about_store()?;
    if found == "ok" { Ok(()) } else { Err(damaged(found)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No test can pull the plug; what the promise to survive that rests on can be read back.
    #[test]
    fn a_writing_connection_is_set_up_to_survive_a_power_failure() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let settings = Settings { busy_timeout: Duration::from_secs(1), max_bytes: None };
        let mut connection = Connection::open(folder.path().join("runs.sqlite")).expect("a new file");
        prepare(&mut connection, settings).expect("a new store");
        for (name, expected) in
            [("synchronous", "2"), ("journal_mode", "wal"), ("fullfsync", "1"), ("checkpoint_fullfsync", "1")]
        {
            let value: rusqlite::types::Value =
                connection.pragma_query_value(None, name, |row| row.get(0)).expect("a setting");
            let told = match value {
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Text(text) => text,
                other => format!("{other:?}"),
            };
            assert_eq!(told, expected, "{name}");
        }
    }

    #[test]
    fn a_reading_connection_writes_nothing() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("runs.sqlite");
        let settings = Settings { busy_timeout: Duration::from_secs(1), max_bytes: None };
        prepare(&mut Connection::open(&path).expect("a new file"), settings).expect("a new store");
        let reading = Connection::open(&path).expect("the store");
        prepare_reading(&reading, settings).expect("it is set up");
        let refused = reading.execute("UPDATE meta SET value = 2", []).expect_err("it only reads");
        assert_eq!(refused.sqlite_error_code(), Some(ErrorCode::ReadOnly));
    }

    #[test]
    fn a_journal_that_somebody_else_keeps_is_waited_for_as_long_as_patience_lasts() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("runs.sqlite");
        let other = Connection::open(&path).expect("a new file");
        other.execute_batch("CREATE TABLE other (value); BEGIN EXCLUSIVE").expect("nobody else is there");
        let ours = Connection::open(&path).expect("the file is there");
        ours.busy_timeout(Duration::ZERO).expect("a setting");
        let began = Instant::now();
        let told = use_write_ahead_log(&ours, Duration::from_millis(20)).expect_err("it is kept");
        assert!(matches!(told, StoreError::Locked { .. }), "{told:?}");
        assert!(began.elapsed() >= Duration::from_millis(20), "it was waited for");
        std::thread::scope(|threads| {
            let waits = threads.spawn(move || use_write_ahead_log(&ours, Duration::from_mins(1)));
            std::thread::sleep(Duration::from_millis(20));
            other.execute_batch("ROLLBACK").expect("the end of it");
            waits.join().expect("it does not panic").expect("it is free");
        });
    }

    #[test]
    fn a_place_without_a_write_ahead_log_is_told() {
        let memory = Connection::open_in_memory().expect("a database in memory");
        let told = use_write_ahead_log(&memory, Duration::ZERO).expect_err("there is none in memory");
        assert!(matches!(&told, StoreError::Io { source, .. } if source.to_string().contains("memory")), "{told:?}");
    }
}
