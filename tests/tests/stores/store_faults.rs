//! What a SQLite store does when the world does not do its part.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use protolink::RunId;
use protolink::durable::{Clock, Lease, Page, Row, RunFilter, RunState, RunStore, SqliteStore, StoreError, Timestamp};
use protolink::testing::ManualClock;
use protolink_tests::stores::{LONG, append, checked_rows, create, new_file, row};
use rusqlite::Connection;

type Outcome = Result<(), Box<dyn std::error::Error>>;

async fn append_bytes(store: &SqliteStore, lease: &Lease, sequence: u64, bytes: usize) -> Result<(), StoreError> {
    let row = Row::new(lease.run_id(), sequence, 1, "x".repeat(bytes));
    store.append(lease, row, RunState::Running).await
}

#[tokio::test]
async fn d1_a_full_store_refuses_the_row_and_keeps_the_rest() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::options().max_bytes(1 << 20).open(&path)?;
    let lease = create(&store, "run").await?;
    let other = create(&store, "other").await?;
    store.release(create(&store, "old").await?).await?;
    append_bytes(&store, &other, 2, 300_000).await?;
    let mut rows = 1;
    let error = loop {
        match append_bytes(&store, &lease, rows + 1, 100_000).await {
            Ok(()) => rows += 1,
            Err(error) => break error,
        }
        assert!(rows < 20, "the store never filled up");
    };
    assert!(matches!(&error, StoreError::Full { run_id: Some(run_id) } if *run_id == "run"), "{error:?}");
    assert_eq!(checked_rows(&store, "run").await? as u64, rows);
    assert_eq!(store.load(lease.run_id()).await?.summary.rows, rows);
    // There is room for small rows in the page at hand, and for large ones when a run has gone.
    store.release(other).await?;
    assert!(store.delete(&RunId::from("other")).await?);
    append_bytes(&store, &lease, rows + 1, 100_000).await?;
    drop(store);
    assert_eq!(checked_rows(&SqliteStore::open(&path)?, "run").await? as u64, rows + 1);
    Ok(())
}

/// One row that finds no room costs its neighbours in the same transaction nothing.
#[tokio::test]
async fn d1_neighbours_of_a_row_without_room_are_committed() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::options().max_bytes(1 << 20).open(&path)?;
    let large = create(&store, "large").await?;
    let mut small = Vec::new();
    for number in 0..20 {
        small.push(create(&store, &format!("small {number}")).await?);
    }
    let hold = block_writes(&path)?;
    let mut waiting = Vec::new();
    for (number, lease) in small.iter().enumerate() {
        if number == 10 {
            let (store, large) = (store.clone(), large.clone());
            waiting.push(tokio::spawn(async move { append_bytes(&store, &large, 2, 2 << 20).await }));
        }
        let (store, lease) = (store.clone(), lease.clone());
        waiting.push(tokio::spawn(async move { append(&store, &lease, 2).await }));
    }
    tokio::task::yield_now().await;
    drop(hold);
    let mut refused = 0;
    for answer in waiting {
        match answer.await? {
            Ok(()) => {}
            Err(StoreError::Full { run_id: Some(run_id) }) if run_id == "large" => refused += 1,
            Err(error) => return Err(error.into()),
        }
    }
    assert_eq!(refused, 1);
    for lease in &small {
        assert_eq!(checked_rows(&store, lease.run_id().as_str()).await?, 2);
    }
    assert_eq!(checked_rows(&store, "large").await?, 1);
    Ok(())
}

/// Keeps every writer out until it is dropped, so that changes pile up behind it.
fn block_writes(path: &std::path::Path) -> Result<Connection, rusqlite::Error> {
    let hold = Connection::open(path)?;
    hold.execute_batch("BEGIN IMMEDIATE")?;
    Ok(hold)
}

#[tokio::test]
async fn changes_that_wait_share_a_transaction_and_fail_alone() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let mut leases = Vec::new();
    for number in 0..64 {
        leases.push(create(&store, &format!("run {number}")).await?);
    }
    let (commits, transactions) = (store.commits(), store.transactions());
    let hold = block_writes(&path)?;
    let waiting: Vec<_> = (0..)
        .zip(leases.clone())
        .map(|(number, lease)| {
            let store = store.clone();
            // Every other one is not the next of its run.
            let sequence = if number % 2 == 0 { 2 } else { 3 };
            tokio::spawn(async move { append(&store, &lease, sequence).await })
        })
        .collect();
    tokio::task::yield_now().await;
    drop(hold);
    for (number, answer) in waiting.into_iter().enumerate() {
        let answer = answer.await?;
        if number % 2 == 0 {
            answer?;
        } else {
            let error = answer.expect_err("row 3 does not follow row 1");
            assert!(matches!(error, StoreError::Conflict { expected: 2, .. }), "{error}");
        }
    }
    assert_eq!(store.commits() - commits, 32);
    let transactions = store.transactions() - transactions;
    assert!(transactions <= 3, "{transactions} transactions for what waited together");
    for (number, lease) in leases.iter().enumerate() {
        let rows = checked_rows(&store, lease.run_id().as_str()).await?;
        assert_eq!(rows, if number % 2 == 0 { 2 } else { 1 });
    }
    Ok(())
}

#[tokio::test]
async fn a_locked_store_says_so_and_works_again_afterwards() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::options().busy_timeout(Duration::from_millis(50)).open(&path)?;
    let lease = create(&store, "run").await?;
    let hold = block_writes(&path)?;
    let start = Instant::now();
    let error = append(&store, &lease, 2).await.expect_err("another connection writes");
    assert!(matches!(&error, StoreError::Locked { run_id: Some(run_id) } if *run_id == "run"), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(2), "it waited {:?}", start.elapsed());
    // Whoever only reads is not in the way, and finds nobody in its way.
    assert_eq!(checked_rows(&store, "run").await?, 1);
    drop(hold);
    append(&store, &lease, 2).await?;
    Ok(())
}

#[tokio::test]
async fn reading_goes_on_while_a_write_waits() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let lease = create(&store, "run").await?;
    let hold = block_writes(&path)?;
    let writer = store.clone();
    let waiting = tokio::spawn(async move { append(&writer, &lease, 2).await });
    tokio::task::yield_now().await;
    assert_eq!(checked_rows(&store, "run").await?, 1);
    assert_eq!(store.list(&RunFilter::new(), Page::default()).await?.runs.len(), 1);
    assert!(!waiting.is_finished());
    drop(hold);
    waiting.await??;
    assert_eq!(checked_rows(&store, "run").await?, 2);
    Ok(())
}

#[tokio::test]
async fn d7_two_handles_on_one_file_are_two_workers() -> Outcome {
    let (_folder, path) = new_file()?;
    let clock = ManualClock::new();
    let open = |owner: &str| -> Result<SqliteStore, StoreError> {
        Ok(SqliteStore::open(&path)?.with_clock(clock.clone()).with_owner(owner))
    };
    let (slow, quick) = (open("slow")?, open("quick")?);
    let lost = create(&slow, "run").await?;
    let error = quick.acquire(lost.run_id(), LONG).await.expect_err("the other has it");
    assert!(matches!(&error, StoreError::Busy { owner, .. } if owner == "slow"), "{error}");
    clock.advance(LONG);
    let held = quick.acquire(lost.run_id(), LONG).await?;
    append(&quick, &held, 2).await?;
    let error = append(&slow, &lost, 3).await.expect_err("its lease is lost");
    assert!(matches!(error, StoreError::LeaseLost { .. }), "{error}");
    assert_eq!(checked_rows(&slow, "run").await?, 2);
    Ok(())
}

/// Workers whose clocks disagree can take a run from each other too early, and never both commit.
#[tokio::test]
async fn d7_clocks_that_disagree_never_let_two_commit() -> Outcome {
    let (_folder, path) = new_file()?;
    let early = ManualClock::new();
    let late = ManualClock::at(early.now().after(LONG * 2));
    let first = SqliteStore::open(&path)?.with_clock(early.clone());
    let second = SqliteStore::open(&path)?.with_clock(late);
    let old = create(&first, "run").await?;
    let new = second.acquire(old.run_id(), LONG).await?;
    let error = append(&first, &old, 2).await.expect_err("the run was taken over");
    assert!(matches!(error, StoreError::LeaseLost { .. }), "{error}");
    append(&second, &new, 2).await?;
    // By the early clock, the new lease was granted in the future; its length is honoured all the same.
    let error = first.acquire(old.run_id(), LONG).await.expect_err("the other has it");
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    early.advance(LONG);
    let third = first.acquire(old.run_id(), LONG).await?;
    let error = append(&second, &new, 3).await.expect_err("the run was taken over");
    assert!(matches!(error, StoreError::LeaseLost { .. }), "{error}");
    append(&first, &third, 3).await?;
    Ok(())
}

#[derive(Debug)]
struct BrokenClock;

impl Clock for BrokenClock {
    fn now(&self) -> Timestamp {
        panic!("the clock has stopped")
    }
}

#[tokio::test]
async fn a_clock_that_panics_stops_nobody_else() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let lease = create(&store, "run").await?;
    let broken = store.clone().with_clock(BrokenClock);
    let error = append(&broken, &lease, 2).await.expect_err("it has no time");
    assert!(matches!(&error, StoreError::Io { run_id: Some(run_id), .. } if *run_id == "run"));
    append(&store, &lease, 2).await?;
    Ok(())
}

#[tokio::test]
async fn d8_a_payload_of_50_mb_is_kept_whole() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let lease = create(&store, "run").await?;
    let payload: String = (b'a'..=b'w').cycle().take(50 << 20).map(char::from).collect();
    let large = Row::new(lease.run_id(), 2, 1, payload);
    store.append(&lease, large.clone(), RunState::Running).await?;
    append(&store, &lease, 3).await?;
    drop(store);
    let stored = SqliteStore::open(&path)?.load(lease.run_id()).await?;
    stored.verify()?;
    assert!(stored.rows[1] == large);
    Ok(())
}

#[tokio::test]
async fn d8_a_run_of_10_000_rows_is_kept_whole() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let lease = create(&store, "run").await?;
    for sequence in 2..=10_000 {
        append(&store, &lease, sequence).await?;
    }
    let stored = store.load(lease.run_id()).await?;
    stored.verify()?;
    assert!((1..).zip(&stored.rows).all(|(sequence, found)| *found == row("run", sequence)));
    store.release(lease).await?;
    assert!(store.delete(&RunId::from("run")).await?);
    let left: i64 = Connection::open(&path)?.query_row("SELECT count(*) FROM rows", [], |row| row.get(0))?;
    assert_eq!(left, 0);
    Ok(())
}

/// What was deleted is not to be found in the file any more.
#[tokio::test]
async fn a_deleted_payload_is_overwritten() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let lease = create(&store, "run").await?;
    append_bytes(&store, &lease, 2, 100_000).await?;
    store.release(lease).await?;
    drop(store);
    let holds = |text: &str| -> Result<bool, std::io::Error> {
        Ok(std::fs::read(&path)?.windows(text.len()).any(|bytes| bytes == text.as_bytes()))
    };
    assert!(holds("secret")? && holds("xxxxxxxx")?);
    let store = SqliteStore::open(&path)?;
    store.delete(&RunId::from("run")).await?;
    drop(store);
    assert!(!holds("secret")? && !holds("xxxxxxxx")?);
    Ok(())
}

fn polled_once<T>(future: &mut (impl Future<Output = T> + Unpin)) -> bool {
    future_poll(future, Waker::noop()).is_ready()
}

fn future_poll<T>(future: &mut (impl Future<Output = T> + Unpin), waker: &Waker) -> Poll<T> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// Needs no runtime at all; what was sent before the last handle went is written.
#[test]
fn dropping_the_store_writes_what_was_sent() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    let run = protolink::durable::NewRun::new("run", "agent");
    let mut created = store.create(run, row("run", 1), LONG);
    let lease = loop {
        if let Poll::Ready(lease) = future_poll(&mut created, Waker::noop()) {
            break lease?;
        }
        std::thread::yield_now();
    };
    drop(created);
    for sequence in 2..=200 {
        let mut call = store.append(&lease, row("run", sequence), RunState::Running);
        polled_once(&mut call);
    }
    drop(store);
    let store = SqliteStore::open(&path)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    assert_eq!(runtime.block_on(checked_rows(&store, "run"))?, 200);
    Ok(())
}

type Call = std::pin::Pin<Box<dyn Future<Output = Result<Lease, StoreError>> + Send>>;

/// Goes on where the answer arrives, as some executors do, which is on the store's own thread; and lets go of the
/// last handle there.
struct GoesOnInPlace {
    call: Mutex<Option<Call>>,
    ended: std::sync::mpsc::Sender<Result<Lease, StoreError>>,
}

impl Wake for GoesOnInPlace {
    fn wake(self: Arc<Self>) {
        let call = self.call.lock().expect("no panic in here").take();
        if let Some(mut call) = call
            && let Poll::Ready(answer) = future_poll(&mut call, Waker::noop())
        {
            drop(call);
            self.ended.send(answer).expect("the test listens");
        }
    }
}

#[test]
fn the_last_handle_may_go_on_any_thread() -> Outcome {
    let (_folder, path) = new_file()?;
    let store = SqliteStore::open(&path)?;
    // Nothing is answered before the other connection lets go.
    let hold = block_writes(&path)?;
    let (ended, answer) = std::sync::mpsc::channel();
    let task = Arc::new(GoesOnInPlace { call: Mutex::new(None), ended });
    let run = protolink::durable::NewRun::new("run", "agent");
    let mut call: Call = Box::pin(async move { store.create(run, row("run", 1), LONG).await });
    assert!(future_poll(&mut call, &task.clone().into()).is_pending());
    *task.call.lock().expect("no panic in here") = Some(call);
    drop(hold);
    answer.recv_timeout(Duration::from_secs(20))??;
    let store = SqliteStore::open(&path)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    assert_eq!(runtime.block_on(checked_rows(&store, "run"))?, 1);
    Ok(())
}
