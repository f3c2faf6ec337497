//! Which files a SQLite store takes, and what it leaves alone.

use std::fs;
use std::path::Path;
use std::time::Duration;

use protolink::durable::{Page, RunFilter, RunStore, SqliteStore, StoreError};
use protolink_tests::stores::{append, checked_rows, create, new_file};
use rusqlite::Connection;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn d8_a_store_is_there_again_when_it_is_opened_again() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let lease = create(&store, "run").await?;
    append(&store, &lease, 2).await?;
    assert_eq!(store.commits(), 2);
    drop(store);
    let store = SqliteStore::open(&path)?;
    assert_eq!(checked_rows(&store, "run").await?, 2);
    append(&store, &lease, 3).await?;
    assert_eq!(store.commits(), 1, "a store counts what it committed itself");
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_is_for_its_owner_only() -> Outcome {
    use std::os::unix::fs::PermissionsExt;

    let (folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    create(&store, "run").await?;
    let mut files = 0;
    for entry in fs::read_dir(folder.path())? {
        let entry = entry?;
        let mode = entry.metadata()?.permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", entry.path().display());
        files += 1;
    }
    assert!(files >= 2, "the log lies beside the file");
    Ok(())
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() -> Outcome {
    let (_folder, path) = new_file()?;
    fs::write(&path, "")?;
    create(&SqliteStore::open(&path)?, "run").await?;
    Ok(())
}

/// What SQLite takes for a name of its own is a file like any other here.
#[tokio::test]
async fn special_names_are_files() -> Outcome {
    let (folder, _) = new_file()?;
    for name in [":memory:", "file:runs?mode=memory", "runs ü 100%.db"] {
        let path = folder.path().join(name);
        create(&SqliteStore::open(&path)?, "run").await?;
        assert!(path.is_file(), "{name}");
        assert_eq!(checked_rows(&SqliteStore::open(&path)?, "run").await?, 1);
    }
    Ok(())
}

fn refusal(path: &Path) -> StoreError {
    let options = SqliteStore::options().busy_timeout(Duration::from_millis(50));
    options.open(path).expect_err("the file is no store that can be opened")
}

#[test]
fn d8_a_file_of_something_else_is_refused_and_left_alone() -> Outcome {
    let (folder, _) = new_file()?;
    let text = folder.path().join("notes.txt");
    fs::write(&text, "Dear diary,\n".repeat(1000))?;
    let short = folder.path().join("short.txt");
    fs::write(&short, "x")?;
    let database = folder.path().join("other.sqlite");
    Connection::open(&database)?.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)")?;
    let marked = folder.path().join("marked.sqlite");
    Connection::open(&marked)?.execute_batch("PRAGMA application_id = 77; VACUUM")?;
    for path in [&text, &short, &database, &marked] {
        let before = fs::read(path)?;
        let error = refusal(path);
        assert!(matches!(error, StoreError::Foreign { .. }), "{}: {error}", path.display());
        assert_eq!(fs::read(path)?, before, "{} has changed", path.display());
    }
    assert_eq!(fs::read_dir(folder.path())?.count(), 4, "nothing was put beside them");
    Ok(())
}

#[test]
fn a_path_that_leads_nowhere_is_told() -> Outcome {
    let (folder, path) = new_file()?;
    for path in [folder.path().to_path_buf(), path.join("no/such/folder"), "".into()] {
        let error = refusal(&path);
        assert!(matches!(error, StoreError::Io { .. }), "{}: {error}", path.display());
    }
    Ok(())
}

/// Opens the file behind the store's back.
fn tamper(path: &Path, sql: &str) -> Outcome {
    Ok(Connection::open(path)?.execute_batch(sql)?)
}

#[tokio::test]
async fn d8_a_store_of_a_newer_version_is_told_and_left_alone() -> Outcome {
    let (_folder, path) = new_file()?;
    create(&SqliteStore::open(&path)?, "run").await?;
    tamper(&path, "UPDATE meta SET value = 2 WHERE name = 'layout'")?;
    let before = fs::read(&path)?;
    let error = refusal(&path);
    assert!(matches!(error, StoreError::NewerStore { found: 2, supported: 1 }), "{error}");
    assert_eq!(fs::read(&path)?, before);
    Ok(())
}

#[tokio::test]
async fn d8_tables_that_are_not_as_they_were_are_told() -> Outcome {
    for sql in [
        "DELETE FROM meta",
        "DROP TABLE meta",
        "DROP TABLE rows",
        "DROP INDEX runs_by_agent",
        "ALTER TABLE runs RENAME COLUMN agent TO actor",
        "UPDATE meta SET value = 0 WHERE name = 'layout'",
        "UPDATE meta SET value = -1 WHERE name = 'layout'",
    ] {
        let (_folder, path) = new_file()?;
        create(&SqliteStore::open(&path)?, "run").await?;
        tamper(&path, sql)?;
        let error = refusal(&path);
        assert!(matches!(error, StoreError::StoreDamaged { .. }), "{sql}: {error}");
    }
    Ok(())
}

/// The layout is part of what other versions rely on: changing it takes a new number and a way over.
#[tokio::test]
async fn d8_the_layout_stays_what_it_is() -> Outcome {
    let (_folder, path) = new_file()?;
    create(&SqliteStore::open(&path)?, "run").await?;
    let file = Connection::open(&path)?;
    let layout: i64 = file.query_row("SELECT value FROM meta WHERE name = 'layout'", [], |row| row.get(0))?;
    let columns: String = file.query_row(
        "SELECT group_concat(m.name || '.' || c.name || ' ' || c.type, ', ')
         FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table'",
        [],
        |row| row.get(0),
    )?;
    assert_eq!(layout, 1);
    assert_eq!(
        columns,
        "meta.name TEXT, meta.value INTEGER, \
         runs.place INTEGER, runs.run_id TEXT, runs.agent TEXT, runs.conversation TEXT, runs.labels TEXT, \
         runs.state TEXT, runs.last_row INTEGER, runs.last_key INTEGER, runs.created_at INTEGER, \
         runs.updated_at INTEGER, runs.ended_at INTEGER, runs.epoch INTEGER, runs.owner TEXT, \
         runs.granted_at INTEGER, runs.expires_at INTEGER, runs.digest BLOB, \
         rows.key INTEGER, rows.place INTEGER, rows.sequence INTEGER, rows.previous INTEGER, \
         rows.version INTEGER, rows.checksum BLOB, rows.payload TEXT"
    );
    Ok(())
}

/// With the `sqlite3` shell, a run can be read without knowing how its rows are linked.
#[tokio::test]
async fn the_view_shows_a_run_in_order() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let first = create(&store, "a").await?;
    let second = create(&store, "b").await?;
    append(&store, &first, 2).await?;
    append(&store, &second, 2).await?;
    append(&store, &first, 3).await?;
    let file = Connection::open(&path)?;
    let shown: String =
        file.query_row("SELECT group_concat(run_id || sequence, ' ') FROM (SELECT * FROM journal)", [], |row| {
            row.get(0)
        })?;
    assert_eq!(shown, "a1 a2 a3 b1 b2");
    Ok(())
}

/// Makes the file read-only for whoever runs the test. For an administrator, whom no mode stops, the file says that
/// it was written by a SQLite of the future, which SQLite reads and does not write.
fn make_read_only(path: &Path) -> Outcome {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions)?;
    if fs::OpenOptions::new().write(true).open(path).is_ok() {
        let mut bytes = fs::read(path)?;
        bytes[18] = 3;
        fs::write(path, bytes)?;
    }
    Ok(())
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_told() -> Outcome {
    let (_folder, path) = new_file()?;
    create(&SqliteStore::open(&path)?, "run").await?;
    make_read_only(&path)?;
    let before = fs::read(&path)?;
    let error = refusal(&path);
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    assert_eq!(fs::read(&path)?, before);
    Ok(())
}

#[tokio::test]
async fn a_file_that_another_connection_keeps_for_itself_is_told() -> Outcome {
    let (_folder, path) = new_file()?;
    create(&SqliteStore::open(&path)?, "run").await?;
    let other = Connection::open(&path)?;
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE")?;
    let error = refusal(&path);
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    drop(other);
    let store = SqliteStore::open(&path)?;
    assert_eq!(store.list(&RunFilter::new(), Page::default()).await?.runs.len(), 1);
    Ok(())
}
