//! One file, several processes: killed ones, rivals, and newcomers.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use protolink::RunId;
use protolink::durable::{Page, RunFilter, RunStore, SqliteStore};
use protolink_tests::stores::{checked_rows, create, new_file, row};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn worker(words: &[&str], path: &Path) -> std::io::Result<Child> {
    Command::new(env!("CARGO_BIN_EXE_store_worker"))
        .arg(words[0])
        .arg(path)
        .args(&words[1..])
        .stdout(Stdio::piped())
        .spawn()
}

/// A process is killed at any instant; every row that it was told of is there, and nothing but what it wrote.
#[tokio::test]
async fn d2_no_acknowledged_row_is_lost_when_the_process_is_killed() -> Outcome {
    let (_folder, path) = new_file()?;
    let mut acknowledged = 0_u64;
    for round in 0..40_u64 {
        let mut child = worker(&["append", "run", &round.to_string()], &path)?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("its output is piped")?).lines();
        // Somewhere in the midst of a commit, a different place each time.
        for _ in 0..=round % 7 {
            let line = lines.next().ok_or("the worker ended by itself")??;
            acknowledged = acknowledged.max(line.parse()?);
        }
        std::thread::sleep(Duration::from_micros(round * 37 % 400));
        child.kill()?;
        child.wait()?;
        for line in lines {
            acknowledged = acknowledged.max(line?.parse()?);
        }
        let store = SqliteStore::open(&path)?;
        let stored = store.load(&RunId::from("run")).await?;
        stored.verify()?;
        assert!(
            stored.summary.rows >= acknowledged && stored.summary.rows <= acknowledged + 1,
            "{acknowledged} rows were acknowledged, {} are there",
            stored.summary.rows
        );
        assert!((1..).zip(&stored.rows).all(|(sequence, found)| *found == row("run", sequence)));
    }
    assert!(acknowledged > 40, "{acknowledged} rows in 40 rounds");
    Ok(())
}

#[tokio::test]
async fn d7_rivals_in_other_processes_never_commit_the_same_row() -> Outcome {
    const ROWS: u64 = 400;
    let (_folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let lease = create(&store, "run").await?;
    store.release(lease).await?;
    let rivals = (0..4).map(|_| worker(&["race", "run", &ROWS.to_string()], &path));
    let mut claims = BTreeMap::new();
    for rival in rivals.collect::<Result<Vec<_>, _>>()? {
        let id = rival.id();
        let output = rival.wait_with_output()?;
        assert!(output.status.success(), "a rival failed");
        for line in String::from_utf8(output.stdout)?.lines() {
            let before = claims.insert(line.parse::<u64>()?, id);
            assert_eq!(before, None, "row {line} was acknowledged twice");
        }
    }
    let stored = store.load(&RunId::from("run")).await?;
    stored.verify()?;
    let rows: Vec<_> = stored.rows.iter().skip(1).collect();
    assert_eq!(claims.keys().copied().collect::<Vec<_>>(), (2..=ROWS).collect::<Vec<_>>());
    for (row, owner) in rows.into_iter().zip(claims.values()) {
        assert!(row.payload.starts_with(&format!("{owner}{{")), "row {} is another's", row.sequence);
    }
    Ok(())
}

/// Processes that come upon a file that is not there yet make one store of it.
#[tokio::test]
async fn processes_that_start_together_make_one_store() -> Outcome {
    for _ in 0..5 {
        let (_folder, path) = new_file()?;
        let workers = ["a", "b", "c", "d"].map(|prefix| worker(&["create", prefix, "10"], &path));
        for worker in workers {
            let mut worker = worker?;
            let mut said = String::new();
            worker.stdout.take().ok_or("its output is piped")?.read_to_string(&mut said)?;
            assert!(worker.wait()?.success(), "a worker failed: {said}");
        }
        let store = SqliteStore::open(&path)?;
        let runs = store.list(&RunFilter::new(), Page::first(100)).await?.runs;
        assert_eq!(runs.len(), 40);
        for run in &runs {
            assert_eq!(checked_rows(&store, run.run_id.as_str()).await?, 2);
        }
    }
    Ok(())
}

/// A name that SQLite would take for a database in memory, given as it stands.
#[tokio::test]
async fn a_special_name_is_a_file_in_the_folder_at_hand() -> Outcome {
    let (folder, _) = new_file()?;
    let status = Command::new(env!("CARGO_BIN_EXE_store_worker"))
        .args(["create", ":memory:", "run", "1"])
        .current_dir(folder.path())
        .status()?;
    assert!(status.success());
    let store = SqliteStore::open(folder.path().join(":memory:"))?;
    assert_eq!(checked_rows(&store, "run 0").await?, 2);
    Ok(())
}
