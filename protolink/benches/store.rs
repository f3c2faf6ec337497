//! The store's figures, each a ratio of two things measured in turns in one run, so that the machine's speed and its
//! moods cancel out. Says `missed`, and ends with an error, when one is outside its limit.

use std::future::Future;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use protolink::RunId;
use protolink::durable::{Lease, NewRun, Row, RunState, RunStore, SqliteStore};
use rusqlite::Connection;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// As long as a small model reply with its intents.
const PAYLOAD: usize = 1500;
const LONG: Duration = Duration::from_hours(1);

fn main() -> Outcome<ExitCode> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let figures = [
        two_commits(folder.path())?,
        flat(folder.path())?,
        many_runs(folder.path())?,
        resume(folder.path())?,
        growth(folder.path())?,
    ];
    Ok(if figures.iter().all(|kept| *kept) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn report(figure: &str, measured: f64, limit: f64, kept: bool, detail: &str) -> bool {
    let verdict = if kept { "kept" } else { "missed" };
    println!("{figure}: {measured:.2} (limit {limit:.2}) {verdict}; {detail}");
    kept
}

fn block_on<T>(future: impl Future<Output = T>) -> Outcome<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future))
}

/// A run that rows are appended to.
struct Writer {
    store: SqliteStore,
    lease: Lease,
    sequence: u64,
}

impl Writer {
    async fn new(store: &SqliteStore, id: &str) -> Outcome<Self> {
        let run_id = RunId::from(id);
        let first = Row::new(&run_id, 1, 1, "{}");
        let lease = store.create(NewRun::new(&run_id, "bench"), first, LONG).await?;
        Ok(Self { store: store.clone(), lease, sequence: 1 })
    }

    async fn append(&mut self, rows: u32) -> Outcome<Duration> {
        let start = Instant::now();
        for _ in 0..rows {
            self.sequence += 1;
            let payload = "x".repeat(PAYLOAD);
            let row = Row::new(self.lease.run_id(), self.sequence, 1, payload);
            self.store.append(&self.lease, row, RunState::Running).await?;
        }
        Ok(start.elapsed())
    }
}

/// Two durable commits against two commits of the same bytes by rusqlite alone.
fn two_commits(folder: &Path) -> Outcome<bool> {
    const BLOCKS: usize = 40;
    const STEPS: u32 = 50;
    let raw = Connection::open(folder.join("raw.sqlite"))?;
    raw.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE raw (key INTEGER PRIMARY KEY, payload TEXT NOT NULL)",
    )?;
    let write_raw = |steps: u32| -> Outcome<Duration> {
        let start = Instant::now();
        for _ in 0..2 * steps {
            let payload = "x".repeat(PAYLOAD);
            raw.prepare_cached("INSERT INTO raw (payload) VALUES (?1)")?.execute([payload])?;
        }
        Ok(start.elapsed())
    };
    let store = SqliteStore::open(folder.join("commits.sqlite"))?;
    block_on(async {
        let mut writer = Writer::new(&store, "run").await?;
        // Both logs grow to their size first; from then on both are written over.
        write_raw(500)?;
        writer.append(1000).await?;
        let (mut raws, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..BLOCKS {
            raws.push(write_raw(STEPS)? / STEPS);
            ours.push(writer.append(2 * STEPS).await? / STEPS);
        }
        let (raw, ours) = (median(raws), median(ours));
        let ratio = ours.as_secs_f64() / raw.as_secs_f64();
        let detail = format!("{ours:?} a step, {raw:?} by rusqlite alone");
        Ok(report("two durable commits / two raw ones", ratio, 1.5, ratio <= 1.5, &detail))
    })?
}

/// A step late in a long run against one early in a short one.
fn flat(folder: &Path) -> Outcome<bool> {
    const BLOCK: u32 = 20;
    let store = SqliteStore::open(folder.join("flat.sqlite"))?;
    block_on(async {
        let mut long = Writer::new(&store, "long").await?;
        long.append(2 * 2000).await?;
        let (mut early, mut late) = (Vec::new(), Vec::new());
        for number in 0..60 {
            let mut short = Writer::new(&store, &format!("short {number}")).await?;
            short.append(BLOCK).await?;
            early.push(short.append(BLOCK).await? / BLOCK);
            late.push(long.append(BLOCK).await? / BLOCK);
        }
        let (early, late) = (median(early), median(late));
        let ratio = late.as_secs_f64() / early.as_secs_f64();
        let detail = format!("{late:?} behind row 4,000, {early:?} behind row 20");
        Ok(report("a late commit / an early one", ratio, 1.2, ratio <= 1.2, &detail))
    })?
}

/// 64 runs at once against one.
fn many_runs(folder: &Path) -> Outcome<bool> {
    const RUNS: u32 = 64;
    const ROWS: u32 = 20;
    let store = SqliteStore::open(folder.join("many.sqlite"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let mut one = Writer::new(&store, "one").await?;
        let mut many = Vec::new();
        for number in 0..RUNS {
            many.push(Writer::new(&store, &format!("run {number}")).await?);
        }
        one.append(1000).await?;
        let (mut alone, mut together) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            alone.push(one.append(RUNS * 4).await? / (RUNS * 4));
            let start = Instant::now();
            let tasks: Vec<_> = many
                .drain(..)
                .map(|mut writer| {
                    tokio::spawn(async move {
                        let appended = writer.append(ROWS).await.map_err(|error| error.to_string());
                        appended.map(|_| writer)
                    })
                })
                .collect();
            for task in tasks {
                many.push(task.await??);
            }
            together.push(start.elapsed() / (RUNS * ROWS));
        }
        let (alone, together) = (median(alone), median(together));
        let ratio = alone.as_secs_f64() / together.as_secs_f64();
        let detail = format!("{together:?} a commit, {alone:?} alone");
        Ok(report("throughput of 64 runs / of one", ratio, 4.0, ratio >= 4.0, &detail))
    })
}

/// Reading and checking a run of 10,000 steps, two rows each, that stands among others; in seconds.
fn resume(folder: &Path) -> Outcome<bool> {
    let store = SqliteStore::open(folder.join("resume.sqlite"))?;
    block_on(async {
        let mut writers = Vec::new();
        for number in 0..10 {
            writers.push(Writer::new(&store, &format!("run {number}")).await?);
        }
        let (long, others) = writers.split_first_mut().ok_or("there are ten")?;
        for block in 0..200 {
            long.append(100).await?;
            others[block % 9].append(5).await?;
        }
        let mut times = Vec::new();
        for _ in 0..5 {
            let start = Instant::now();
            store.load(&RunId::from("run 0")).await?.verify()?;
            times.push(start.elapsed());
        }
        let seconds = median(times).as_secs_f64();
        Ok(report("seconds to load 20,000 rows", seconds, 0.5, seconds <= 0.5, "checksums included"))
    })?
}

/// What the file grows by against what was said.
fn growth(folder: &Path) -> Outcome<bool> {
    let path = folder.join("growth.sqlite");
    let mut sizes = Vec::new();
    for rows in [2000_u32, 4000] {
        let store = SqliteStore::open(&path)?;
        block_on(async { Writer::new(&store, &rows.to_string()).await?.append(rows).await })??;
        // The log is part of the file only when the store is closed.
        drop(store);
        sizes.push(u32::try_from(std::fs::metadata(&path)?.len())?);
    }
    let payload = u32::try_from(PAYLOAD)?;
    let first = f64::from(sizes[0]) / f64::from(2000 * payload);
    let second = f64::from(sizes[1] - sizes[0]) / f64::from(4000 * payload);
    let detail = format!("{first:.2} bytes in the file for a byte said, {second:.2} after that");
    let ratio = second / first;
    Ok(report("growth later on / at first", ratio, 1.1, ratio <= 1.1, &detail))
}

fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations[durations.len() / 2]
}
