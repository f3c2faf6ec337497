//! Truncated and bit-flipped files: the truth, or a typed error, and never anything else.

use std::fs;
use std::path::{Path, PathBuf};

use protolink::RunId;
use protolink::durable::{NewRun, Page, RunFilter, RunState, RunStore, SqliteStore, StoreError, StoredRun};
use protolink_tests::stores::{LONG, append, create, new_file, row};
use rusqlite::Connection;
use tempfile::TempDir;

type Outcome = Result<(), Box<dyn std::error::Error>>;

const RUNS: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

/// A closed store with runs of small rows, rows over many pages, and rows in all states.
async fn sound_file() -> Result<(TempDir, PathBuf, Vec<StoredRun>), Box<dyn std::error::Error>> {
    let (folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let mut leases = Vec::new();
    for id in RUNS {
        let mut run = NewRun::new(id, "agent");
        run.conversation = Some("talk".to_owned());
        run.labels.insert("tenant".to_owned(), "acme".to_owned());
        leases.push(store.create(run, row(id, 1), LONG).await?);
    }
    for sequence in 2..=12 {
        for lease in &leases {
            append(&store, lease, sequence).await?;
        }
    }
    let id = leases[1].run_id().clone();
    let large = protolink::durable::Row::new(&id, 13, 1, "9".repeat(30_000));
    store.append(&leases[1], large, RunState::Paused).await?;
    store.append(&leases[2], row("gamma", 13), RunState::Completed).await?;
    for lease in leases {
        store.release(lease).await?;
    }
    let runs = truth(&store).await?;
    drop(store);
    Ok((folder, path, runs))
}

/// Everything that the store says, checked as a resume checks it.
async fn truth(store: &SqliteStore) -> Result<Vec<StoredRun>, StoreError> {
    let listed = store.list(&RunFilter::new().conversation("talk"), Page::first(100)).await?;
    let mut runs = Vec::new();
    for id in RUNS {
        let stored = store.load(&RunId::from(id)).await?;
        stored.verify()?;
        runs.push(stored);
    }
    if listed.runs.iter().eq(runs.iter().map(|stored| &stored.summary)) {
        Ok(runs)
    } else {
        Err(StoreError::io(None, "the listing differs from what is loaded"))
    }
}

fn says_damage(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Damaged { .. }
            | StoreError::StoreDamaged { .. }
            | StoreError::Foreign { .. }
            | StoreError::NewerStore { .. }
            | StoreError::ReadOnly { .. }
    )
}

/// Reads all and writes a little. The store is no worse off for either; what it says is the truth or a typed error.
async fn examine(path: &Path, expected: &[StoredRun], what: &str) -> Result<bool, StoreError> {
    let told = async {
        let store = SqliteStore::open(path)?;
        let runs = truth(&store).await?;
        assert_eq!(runs, expected, "{what}: something else passed for the truth");
        for id in RUNS {
            let lease = store.acquire(&RunId::from(id), LONG).await?;
            let next = store.load(lease.run_id()).await?.rows.len() as u64 + 1;
            append(&store, &lease, next).await?;
            store.release(lease).await?;
        }
        create(&store, "epsilon").await?;
        store.prune(protolink::durable::Timestamp::from_millis(i64::MAX)).await?;
        Ok::<_, StoreError>(())
    };
    match told.await {
        Ok(()) => Ok(false),
        Err(error) if says_damage(&error) => {
            assert!(!format!("{error} {error:?}").contains("secret"), "{what}: {error} shows a payload");
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

#[tokio::test]
async fn d8_a_flipped_bit_is_found_out_or_changes_nothing() -> Outcome {
    let (folder, path, expected) = sound_file().await?;
    let sound = fs::read(&path)?;
    let copy = folder.path().join("flipped.sqlite");
    let mut found_out = 0;
    // Every byte of the first page's head, then places spread over the file by a fixed rule.
    let spread = (0..400_u64).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20);
    for place in (0..108).chain(spread) {
        let at = usize::try_from(place)? % sound.len();
        let bit = place % 8;
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << bit;
        fs::write(&copy, bytes)?;
        let what = format!("bit {bit} of byte {at}");
        let found = examine(&copy, &expected, &what).await;
        found_out += u32::from(found.map_err(|error| format!("{what}: {error:?}"))?);
        for suffix in ["-wal", "-shm", "-journal"] {
            drop(fs::remove_file(folder.path().join(format!("flipped.sqlite{suffix}"))));
        }
    }
    // Most of the file is rows; were they not checked, hardly a flip would be found.
    assert!(found_out > 200, "{found_out} of 508 were found out");
    Ok(())
}

/// A run that cannot be found by its name any more must not pass for one that never was: it would be begun anew.
#[tokio::test]
async fn d8_a_run_that_lost_its_name_is_found_out() -> Outcome {
    let (folder, path, expected) = sound_file().await?;
    let sound = fs::read(&path)?;
    let copy = folder.path().join("renamed.sqlite");
    let names = (0..sound.len()).filter(|at| sound[*at..].starts_with(b"gamma"));
    let mut places = 0;
    for at in names {
        let mut bytes = sound.clone();
        bytes[at] = b'h';
        fs::write(&copy, bytes)?;
        let found = examine(&copy, &expected, &format!("the name at byte {at}")).await?;
        assert!(found, "the name at byte {at} was changed, and nobody noticed");
        places += 1;
    }
    assert!(places >= 15, "{places} places: a name in each of 13 rows, in the line and in its index");
    Ok(())
}

#[tokio::test]
async fn d8_a_truncated_file_is_found_out() -> Outcome {
    let (folder, path, expected) = sound_file().await?;
    let sound = fs::read(&path)?;
    let copy = folder.path().join("truncated.sqlite");
    let pages = sound.len() / 4096;
    let lengths = (1..pages).map(|page| page * 4096);
    let ragged = (1..pages).map(|page| page * 4096 - 1 - page * 37);
    for length in [1, 16, 99, 100, 511, 512, 1000].into_iter().chain(lengths).chain(ragged) {
        fs::write(&copy, &sound[..length])?;
        let what = format!("{length} bytes of {}", sound.len());
        let found = examine(&copy, &expected, &what).await;
        assert!(found.map_err(|error| format!("{what}: {error:?}"))?, "{what} pass for the whole");
    }
    Ok(())
}

/// Changes the file behind the store's back, in ways that SQLite itself finds nothing wrong with.
async fn tampered(sql: &str) -> Result<StoreError, Box<dyn std::error::Error>> {
    let (_folder, path, _) = sound_file().await?;
    Connection::open(&path)?.execute_batch(sql)?;
    let store = SqliteStore::open(&path)?;
    Ok(truth(&store).await.expect_err("the run is not what was written"))
}

#[tokio::test]
async fn d8_a_changed_row_is_told_with_run_and_sequence() -> Outcome {
    let row = "(SELECT key FROM rows JOIN runs USING (place) WHERE run_id = 'gamma' AND sequence = 7)";
    for change in [
        format!("UPDATE rows SET payload = payload || ' ' WHERE key = {row}"),
        format!("UPDATE rows SET version = 2 WHERE key = {row}"),
        format!("UPDATE rows SET checksum = zeroblob(32) WHERE key = {row}"),
        format!("UPDATE rows SET checksum = zeroblob(7) WHERE key = {row}"),
        format!("UPDATE rows SET sequence = 8 WHERE key = {row}"),
        format!("UPDATE rows SET place = 1 WHERE key = {row}"),
        format!("UPDATE rows SET payload = CAST(x'80' AS TEXT) WHERE key = {row}"),
        format!("DELETE FROM rows WHERE key = {row}"),
    ] {
        let error = tampered(&change).await?;
        assert!(
            matches!(&error, StoreError::Damaged { run_id, sequence: Some(7), .. } if *run_id == "gamma"),
            "{change}: {error:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn d8_a_changed_line_of_a_run_is_told_with_the_run() -> Outcome {
    for change in [
        "state = 'failed'",
        "state = 'asleep'",
        "conversation = NULL, labels = '{}'",
        "labels = '{\"tenant\":\"other\"}'",
        "labels = 'no JSON'",
        "agent = 'another'",
        "last_row = last_row - 1, last_key = (SELECT previous FROM rows WHERE key = last_key)",
        "epoch = epoch - 1",
        "ended_at = 5",
        "created_at = -1",
    ] {
        let sql = format!("UPDATE runs SET {change} WHERE run_id = 'gamma'");
        let error = tampered(&sql).await?;
        assert!(matches!(&error, StoreError::Damaged { run_id, .. } if *run_id == "gamma"), "{change}: {error:?}");
    }
    Ok(())
}

/// A run with damaged rows can go, and takes all its rows along.
#[tokio::test]
async fn a_damaged_run_can_be_deleted() -> Outcome {
    for change in [
        "UPDATE runs SET state = 'failed' WHERE run_id = 'gamma'",
        "DELETE FROM rows WHERE key = (SELECT key FROM rows JOIN runs USING (place) WHERE run_id = 'gamma' AND sequence = 7)",
    ] {
        let (_folder, path, _) = sound_file().await?;
        Connection::open(&path)?.execute_batch(change)?;
        let store = SqliteStore::open(&path)?;
        assert!(store.delete(&RunId::from("gamma")).await?, "{change}");
        let left = Connection::open(&path)?.query_row(
            "SELECT count(*) FROM rows WHERE place NOT IN (SELECT place FROM runs)",
            [],
            |row| row.get::<_, i64>(0),
        )?;
        assert_eq!(left, 0, "{change}");
        create(&store, "gamma").await?;
    }
    Ok(())
}

/// What a killed process leaves in the log counts; what is cut off there was never acknowledged or is missed.
#[tokio::test]
async fn d8_a_torn_log_loses_no_more_than_its_end() -> Outcome {
    let (folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let lease = create(&store, "run").await?;
    for sequence in 2..=20 {
        append(&store, &lease, sequence).await?;
    }
    let (file, log) = (fs::read(&path)?, fs::read(folder.path().join("runs.sqlite-wal"))?);
    let copy = folder.path().join("torn.sqlite");
    for cut in [0, 1, 24, 24 + 4096, 24 + 4096 + 1000, log.len() / 2] {
        fs::write(&copy, &file)?;
        fs::write(folder.path().join("torn.sqlite-wal"), &log[..log.len() - cut])?;
        drop(fs::remove_file(folder.path().join("torn.sqlite-shm")));
        let store = SqliteStore::open(&copy)?;
        let stored = store.load(&RunId::from("run")).await?;
        stored.verify()?;
        assert!(cut > 0 || stored.rows.len() == 20, "the log of a killed process was not read");
        let whole = (1..).zip(&stored.rows).all(|(sequence, found)| *found == row("run", sequence));
        assert!(whole, "{cut} bytes cut off: the rows are no beginning of what was written");
    }
    Ok(())
}
