//! A process beside a test, working on a store file of its own accord. It says on standard output what it was told
//! by the store, a line each, so that the parent can check the store against it.

use std::io::{Write, stdout};
use std::path::Path;
use std::time::Duration;

use protolink::RunId;
use protolink::durable::{Clock, Lease, Row, RunState, RunStore, SqliteStore, StoreError, SystemClock};
use protolink::testing::ManualClock;
use protolink_tests::stores::{LONG, append, create, row};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let arguments: Vec<_> = std::env::args().collect();
    let words: Vec<_> = arguments.iter().skip(1).map(String::as_str).collect();
    match words[..] {
        ["append", path, id, hours] => append_for_ever(path.as_ref(), id, hours.parse()?).await,
        ["race", path, id, rows] => race(path.as_ref(), id, rows.parse()?).await,
        ["create", path, prefix, runs] => create_many(path.as_ref(), prefix, runs.parse()?).await,
        _ => Err("append PATH RUN HOURS | race PATH RUN ROWS | create PATH PREFIX RUNS".into()),
    }
}

fn say(line: std::fmt::Arguments<'_>) -> Outcome {
    let mut out = stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// Takes the run up where it stands and appends until it is killed, on a clock that many hours from now, where the
/// lease of the process killed before it has run out.
async fn append_for_ever(path: &Path, id: &str, hours: u64) -> Outcome {
    let clock = ManualClock::at(SystemClock.now().after(Duration::from_hours(hours)));
    let store = SqliteStore::open(path)?.with_clock(clock);
    let (lease, mut rows) = match store.load(&RunId::from(id)).await {
        Ok(stored) => (store.acquire(&RunId::from(id), LONG).await?, stored.summary.rows),
        Err(StoreError::NotFound { .. }) => (create(&store, id).await?, 1),
        Err(error) => return Err(error.into()),
    };
    loop {
        say(format_args!("{rows}"))?;
        rows += 1;
        append(&store, &lease, rows).await?;
    }
}

/// Waits for its turn.
async fn acquire(store: &SqliteStore, id: &str) -> Result<Lease, StoreError> {
    loop {
        match store.acquire(&RunId::from(id), Duration::from_millis(30)).await {
            Err(StoreError::Busy { .. }) => tokio::time::sleep(Duration::from_millis(1)).await,
            answer => return answer,
        }
    }
}

/// Appends to a run that others append to as well, under short leases, until it has `rows` rows.
async fn race(path: &Path, id: &str, rows: u64) -> Outcome {
    let me = std::process::id();
    let store = SqliteStore::open(path)?.with_owner(me.to_string());
    loop {
        let lease = acquire(&store, id).await?;
        let mut next = store.load(lease.run_id()).await?.summary.rows + 1;
        loop {
            if next > rows {
                return Ok(());
            }
            let payload = me.to_string() + &row(id, next).payload;
            let mine = Row::new(lease.run_id(), next, 1, payload);
            match store.append(&lease, mine, RunState::Running).await {
                Ok(()) => say(format_args!("{next}"))?,
                // Slower than its lease; another may have gone on.
                Err(StoreError::LeaseLost { .. }) => break,
                Err(error) => return Err(error.into()),
            }
            next += 1;
        }
    }
}

/// Creates runs, side by side with others.
async fn create_many(path: &Path, prefix: &str, runs: u32) -> Outcome {
    let store = SqliteStore::open(path)?;
    for number in 0..runs {
        let lease = create(&store, &format!("{prefix} {number}")).await?;
        append(&store, &lease, 2).await?;
        store.release(lease).await?;
    }
    Ok(())
}
