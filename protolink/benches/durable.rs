//! The figures of durable runs, each a ratio of two things measured in turns in one run, so that the machine's speed and
//! its moods cancel out. Says `missed`, and ends with an error, when one is outside its limit.

use std::future::Future;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use protolink::durable::{RunStore, SqliteStore};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentBuilder, DynTool, RunId};
use rusqlite::Connection;
use serde_json::{Value, json};

type Measured<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Measured<ExitCode> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let figures = [
        commits(folder.path())?,
        two_commits(folder.path())?,
        flat(folder.path())?,
        many_runs(folder.path())?,
        resume(folder.path())?,
    ];
    Ok(if figures.iter().all(|kept| *kept) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn report(figure: &str, measured: f64, limit: f64, kept: bool, detail: &str) -> bool {
    let verdict = if kept { "kept" } else { "missed" };
    println!("{figure}: {measured:.2} (limit {limit:.2}) {verdict}; {detail}");
    kept
}

fn block_on<T>(future: impl Future<Output = T>) -> Measured<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future))
}

fn median(mut durations: Vec<Duration>) -> Duration {
    durations.sort_unstable();
    durations[durations.len() / 2]
}

/// The moments at which the steps of a run began.
#[derive(Clone, Default)]
struct Marks(Arc<Mutex<Vec<Instant>>>);

impl Marks {
    fn set(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
    }

    fn take(&self) -> Vec<Instant> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An agent that makes so many steps of one call each, and then answers.
fn agent(store: &SqliteStore, steps: u32, marks: &Marks) -> Measured<Agent> {
    let marks = marks.clone();
    let builder = builder(store, steps).before_model("mark", move |_: &mut ModelRequest<'_>| marks.set());
    Ok(builder.build()?)
}

fn builder(store: &SqliteStore, steps: u32) -> AgentBuilder {
    let replies = (0..steps).map(|_| Reply::call("look", json!({ "at": "the lamps in the catalogue" })));
    let look = DynTool::new("look", "Looks something up.", json!({ "type": "object" }), |_, _| async {
        Ok::<Value, ToolError>(json!({ "hits": 3, "first": "a lamp of brass, with a green shade" }))
    });
    Agent::builder("bench")
        .instructions("Answer from the catalogue.")
        .model(ScriptedModel::new(replies.chain([Reply::text("done")])).without_recording())
        .dyn_tool(look)
        .budget(Budget::new().max_steps(steps + 1))
        .durable(store.clone())
}

/// Counted by the store, not estimated.
fn commits(folder: &Path) -> Measured<bool> {
    const STEPS: u32 = 100;
    let store = SqliteStore::open(folder.join("counted.sqlite"))?;
    block_on(async {
        let marks = Marks::default();
        let before = store.commits();
        agent(&store, 0, &marks)?.invoke("go").await?;
        let without = store.commits() - before;
        agent(&store, STEPS, &marks)?.invoke("go").await?;
        let with = store.commits() - before - without;
        let each = f64::from(u32::try_from(with - without)?) / f64::from(STEPS);
        Ok(report("commits a tool step", each, 2.0, with - without == 2 * u64::from(STEPS), "counted by the store"))
    })?
}

/// A durable step against two commits of the same bytes by rusqlite alone, in turns: fifty of these, fifty of those.
fn two_commits(folder: &Path) -> Measured<bool> {
    const STEPS: u32 = 10_000;
    const BLOCK: u32 = 50;
    let raw = Connection::open(folder.join("raw.sqlite"))?;
    raw.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE raw (key INTEGER PRIMARY KEY, payload TEXT NOT NULL)",
    )?;
    let store = SqliteStore::open(folder.join("steps.sqlite"))?;
    let payloads = block_on(step_payloads(&store))??;
    let (raw, turns) = (Mutex::new(raw), Arc::new(Mutex::new((None::<Instant>, Vec::new(), Vec::new()))));
    let noted = Arc::clone(&turns);
    let between = move |request: &mut ModelRequest<'_>| -> Result<(), String> {
        if !request.step().is_multiple_of(BLOCK) {
            return Ok(());
        }
        let begun = Instant::now();
        let raw = raw.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..BLOCK {
            for payload in &payloads {
                let insert = raw.prepare_cached("INSERT INTO raw (payload) VALUES (?1)");
                insert.and_then(|mut insert| insert.execute([payload])).map_err(|error| error.to_string())?;
            }
        }
        let ended = Instant::now();
        let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, ours, raws) = &mut *noted;
        if let Some(last) = last {
            ours.push((begun - *last) / BLOCK);
            raws.push((ended - begun) / BLOCK);
        }
        *last = Some(ended);
        Ok(())
    };
    let agent = builder(&store, STEPS).before_model("between", between).build()?;
    block_on(async { agent.invoke("go").await.map(drop) })??;
    let (_, ours, raws) = std::mem::take(&mut *turns.lock().unwrap_or_else(PoisonError::into_inner));
    // Both logs grow to their size first; from then on both are written over.
    let grown = ours.len() / 3;
    let (ours, raw) = (median(ours[grown..].to_vec()), median(raws[grown..].to_vec()));
    let ratio = ours.as_secs_f64() / raw.as_secs_f64();
    let detail = format!("{ours:?} a step, {raw:?} by rusqlite alone");
    Ok(report("a durable step / two raw commits", ratio, 1.5, ratio <= 1.5, &detail))
}

/// What the two rows of a step hold.
async fn step_payloads(store: &SqliteStore) -> Measured<Vec<String>> {
    let answer = agent(store, 3, &Marks::default())?.invoke("go").await?;
    let rows = store.load(answer.run_id()).await?.rows;
    // Start, reply and receipt of the first step, then those of the second.
    Ok(rows.into_iter().skip(3).take(2).map(|row| row.payload).collect())
}

/// A step behind step 2,000 of a long run against one behind step 10 of a short one, in turns.
fn flat(folder: &Path) -> Measured<bool> {
    const FIRST: u32 = 2_000;
    const BLOCK: u32 = 10;
    const BLOCKS: u32 = 40;
    let store = SqliteStore::open(folder.join("flat.sqlite"))?;
    let (early, late) = (Arc::new(Mutex::new(Vec::new())), Marks::default());
    let (short_store, collected, marks) = (store.clone(), Arc::clone(&early), late.clone());
    // Between two blocks of the long run a short one is made.
    let between = move |request: &mut ModelRequest<'_>| {
        let step = request.step();
        let due = step > FIRST && step.is_multiple_of(BLOCK);
        let (store, collected, late) = (short_store.clone(), Arc::clone(&collected), marks.clone());
        if due {
            late.set();
        }
        let work: protolink::BoxFuture<'static, Result<(), String>> = Box::pin(async move {
            if due {
                let marks = Marks::default();
                let agent = agent(&store, 2 * BLOCK, &marks).map_err(|error| error.to_string())?;
                agent.invoke("go").await.map_err(|error| error.to_string())?;
                let marks = marks.take();
                let ten = usize::try_from(BLOCK).unwrap_or_default();
                let step = (marks[2 * ten] - marks[ten]) / BLOCK;
                collected.lock().unwrap_or_else(PoisonError::into_inner).push(step);
                late.set();
            }
            Ok(())
        });
        work
    };
    let long = builder(&store, FIRST + BLOCK * BLOCKS).before_model("between", between).build()?;
    block_on(async { long.run("go").run_id("long").await.map(drop) })??;
    let marks = late.take();
    // Pairs of "the short one begins" and "it has ended": a block of the long run lies between two pairs.
    let late: Vec<Duration> = marks[1..].windows(2).step_by(2).map(|pair| (pair[1] - pair[0]) / BLOCK).collect();
    let early = std::mem::take(&mut *early.lock().unwrap_or_else(PoisonError::into_inner));
    let (early, late) = (median(early), median(late));
    let ratio = late.as_secs_f64() / early.as_secs_f64();
    let detail = format!("{late:?} behind step 2,000, {early:?} behind step 10");
    let kept = report("a late step / an early one", ratio, 1.2, ratio <= 1.2, &detail);

    let rows = block_on(store.load(&RunId::from("long")))??.rows;
    let said = |rows: &[protolink::durable::Row]| rows.iter().map(|row| row.payload.len()).sum::<usize>();
    let (first, second) = (said(&rows[200..2_200]), said(&rows[2_200..4_200]));
    let ratio = f64::from(u32::try_from(second)?) / f64::from(u32::try_from(first)?);
    let detail = format!("{} bytes a step at first, {} later on", first / 1_000, second / 1_000);
    Ok(report("growth later on / at first", ratio, 1.05, ratio <= 1.05, &detail) && kept)
}

/// 64 runs at once against one, on one file.
fn many_runs(folder: &Path) -> Measured<bool> {
    const RUNS: u32 = 64;
    const STEPS: u32 = 10;
    let store = SqliteStore::open(folder.join("many.sqlite"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let (mut alone, mut together) = (Vec::new(), Vec::new());
        for _ in 0..12 {
            let one = agent(&store, 200, &Marks::default())?;
            let start = Instant::now();
            one.invoke("go").await?;
            alone.push(start.elapsed() / 200);
            let many: Vec<Agent> =
                (0..RUNS).map(|_| agent(&store, STEPS, &Marks::default())).collect::<Measured<_>>()?;
            let start = Instant::now();
            let tasks: Vec<_> =
                many.into_iter().map(|agent| tokio::spawn(async move { agent.invoke("go").await.map(drop) })).collect();
            for task in tasks {
                task.await??;
            }
            together.push(start.elapsed() / (RUNS * STEPS));
        }
        let (alone, together) = (median(alone), median(together));
        let ratio = alone.as_secs_f64() / together.as_secs_f64();
        let detail = format!("{together:?} a step, {alone:?} alone");
        Ok(report("throughput of 64 runs / of one", ratio, 4.0, ratio >= 4.0, &detail))
    })
}

/// Taking up a run of 10,000 steps: all of it is read, checked and folded; in seconds.
fn resume(folder: &Path) -> Measured<bool> {
    const STEPS: u32 = 10_000;
    let store = SqliteStore::open(folder.join("resume.sqlite"))?;
    block_on(async {
        let steps = Budget::new().max_steps(STEPS);
        let long = agent(&store, STEPS, &Marks::default())?;
        // It stops where its budget does, and each resume finds that out again.
        let stopped = long.run("go").run_id("long").budget(steps).await;
        assert!(matches!(stopped, Err(Error::Budget { .. })), "{stopped:?}");
        let mut times = Vec::new();
        for _ in 0..7 {
            let start = Instant::now();
            let again = long.resume("long").await;
            times.push(start.elapsed());
            assert!(matches!(again, Err(Error::Budget { .. })), "{again:?}");
        }
        let seconds = median(times).as_secs_f64();
        Ok(report("seconds to resume 10,000 steps", seconds, 0.5, seconds <= 0.5, "20,000 rows, checksums included"))
    })?
}
