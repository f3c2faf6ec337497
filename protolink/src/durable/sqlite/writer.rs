//! The one thread that writes, and how waiting changes share a transaction.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::super::StoreError;
use super::fault::fault;
use crate::ids::RunId;

/// How many changes share a transaction at most, and how many bytes of payload.
const GROUP: usize = 256;
const GROUP_BYTES: usize = 8 << 20;

/// How long the thread looks for another change before it sleeps.
const LOOKING: Duration = Duration::from_micros(50);

/// A commit that takes no longer than this is over before somebody who goes to sleep for it is awake again.
const QUICK: Duration = Duration::from_micros(100);

/// What has become durable so far.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) rows: AtomicU64,
    pub(super) transactions: AtomicU64,
    /// Whether the last transaction was of one change, and quick.
    quick: AtomicBool,
}

/// Waits for what the thread says of a change; `None` when the thread is gone.
///
/// On a quick disk a lone run looks for it a moment before it goes to sleep, and lets other tasks go first; where many
/// runs share their transactions, or the disk is slow, it sleeps at once.
pub(super) async fn told<T>(mut answer: oneshot::Receiver<T>, figures: &Figures) -> Option<T> {
    if figures.quick.load(Ordering::Relaxed) {
        let start = Instant::now();
        while is_within(start, QUICK) {
            match answer.try_recv() {
                Ok(said) => return Some(said),
                Err(oneshot::error::TryRecvError::Closed) => return None,
                Err(oneshot::error::TryRecvError::Empty) => tokio::task::yield_now().await,
            }
        }
    }
    answer.await.ok()
}

/// Whether this time has not gone by since.
fn is_within(start: Instant, time: Duration) -> bool {
    start.elapsed() < time
}

/// A change that waits for its transaction.
pub(super) trait Change: Send {
    /// The run to name when the transaction fails as a whole.
    fn run_id(&self) -> Option<&RunId>;

    /// How many bytes of payload it carries.
    fn bytes(&self) -> usize;

    /// How many rows it commits.
    fn rows(&self) -> u64;

    /// Makes the change inside an open transaction. Returns whether it is to be kept. It may be called again when
    /// the transaction was lost.
    fn attempt(&mut self, connection: &Connection) -> bool;

    /// Tells the caller: what the last attempt said if that is durable now, or why it is not.
    fn finish(self: Box<Self>, committed: Result<(), StoreError>);
}

/// A change as a closure over the connection.
pub(super) struct Job<T, W> {
    pub(super) run_id: Option<RunId>,
    pub(super) bytes: usize,
    pub(super) rows: u64,
    pub(super) work: W,
    pub(super) said: Option<Result<T, StoreError>>,
    pub(super) answer: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, W> Change for Job<T, W>
where
    T: Send,
    W: FnMut(&Connection) -> Result<T, StoreError> + Send,
{
    fn run_id(&self) -> Option<&RunId> {
        self.run_id.as_ref()
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn rows(&self) -> u64 {
        self.rows
    }

    fn attempt(&mut self, connection: &Connection) -> bool {
        // The clock is the application's code; a panic in it must not end the thread for everybody.
        let said = catch_unwind(AssertUnwindSafe(|| (self.work)(connection)))
            .unwrap_or_else(|_| Err(StoreError::io(self.run_id.as_ref(), "the clock panicked")));
        let keep = said.is_ok();
        self.said = Some(said);
        keep
    }

    fn finish(self: Box<Self>, committed: Result<(), StoreError>) {
        let answer = match (self.said, committed) {
            // What was refused by itself is refused, whatever became of the transaction.
            (Some(Err(refused)), _) | (_, Err(refused)) => Err(refused),
            (Some(done), Ok(())) => done,
            (None, Ok(())) => Err(StoreError::Closed { run_id: self.run_id }),
        };
        // A caller that has stopped waiting does not hear of it; the change stands all the same.
        drop(self.answer.send(answer));
    }
}

/// Writes until every sender is gone and everything that was sent is answered.
pub(super) fn write(connection: &Connection, waiting: &Receiver<Box<dyn Change>>, figures: &Figures) {
    while let Some(first) = next(waiting) {
        let mut bytes = first.bytes();
        let mut group = vec![first];
        while group.len() < GROUP && bytes < GROUP_BYTES {
            let Ok(next) = waiting.try_recv() else { break };
            bytes += next.bytes();
            group.push(next);
        }
        commit(connection, group, figures);
    }
}

/// Waits for the next change; `None` when no sender is left.
///
/// A run that has just been told of its commit often sends the next one at once, sooner than a sleeping thread is
/// awake again. So the thread looks for a moment before it goes to sleep, and lets everybody else go first.
fn next(waiting: &Receiver<Box<dyn Change>>) -> Option<Box<dyn Change>> {
    let start = Instant::now();
    while is_within(start, LOOKING) {
        match waiting.try_recv() {
            Ok(change) => return Some(change),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => std::thread::yield_now(),
        }
    }
    waiting.recv().ok()
}

fn commit(connection: &Connection, mut group: Vec<Box<dyn Change>>, figures: &Figures) {
    let shared = group.len() > 1;
    let start = Instant::now();
    match attempt(connection, &mut group) {
        Ok(kept) => {
            figures.quick.store(!shared && is_within(start, QUICK), Ordering::Relaxed);
            // Counted before anybody is told, so that who has been told finds it counted.
            figures.rows.fetch_add(kept.rows, Ordering::SeqCst);
            figures.transactions.fetch_add(u64::from(kept.any), Ordering::SeqCst);
            for change in group {
                change.finish(Ok(()));
            }
        }
        // One change may have cost the others their transaction, by filling the disk for instance: each gets its own.
        Err(Failure::Within(_)) if shared => {
            for change in group {
                commit(connection, vec![change], figures);
            }
        }
        Err(Failure::Outside(error) | Failure::Within(error)) => {
            for change in group {
                let told = fault(change.run_id(), &error);
                change.finish(Err(told));
            }
        }
    }
}

/// What a transaction has made durable.
#[derive(Default)]
struct Kept {
    any: bool,
    rows: u64,
}

/// How a transaction came to nothing.
enum Failure {
    /// It could not begin, which has nothing to do with the changes.
    Outside(rusqlite::Error),
    /// It was lost on the way or at its end.
    Within(rusqlite::Error),
}

fn attempt(connection: &Connection, group: &mut [Box<dyn Change>]) -> Result<Kept, Failure> {
    let say = |sql: &str| connection.prepare_cached(sql)?.execute([]).map(drop);
    let savepoints = group.len() > 1;
    let mut kept = Kept::default();
    say("BEGIN IMMEDIATE").map_err(Failure::Outside)?;
    let mut run = || {
        for change in &mut *group {
            if savepoints {
                say("SAVEPOINT change")?;
            }
            if change.attempt(connection) {
                kept.any = true;
                kept.rows += change.rows();
            } else if savepoints {
                say("ROLLBACK TO change")?;
            }
            if savepoints {
                say("RELEASE change")?;
            }
        }
        say(if kept.any { "COMMIT" } else { "ROLLBACK" })
    };
    let ended = run();
    if !connection.is_autocommit() {
        // Whatever this says, the next transaction cannot begin before this one is gone, and will say so.
        drop(say("ROLLBACK"));
    }
    ended.map(|()| kept).map_err(Failure::Within)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: i64, fails: bool) -> (Box<dyn Change>, oneshot::Receiver<Result<(), StoreError>>) {
        let (answer, answered) = oneshot::channel();
        let work = move |connection: &Connection| {
            connection.execute("INSERT INTO numbers VALUES (?1)", [number]).map_err(|error| fault(None, &error))?;
            if fails { Err(StoreError::BadCursor) } else { Ok(()) }
        };
        (Box::new(Job { run_id: None, bytes: 0, rows: 1, work, said: None, answer }), answered)
    }

    /// A change that fails half-way leaves nothing, alone and among others, and costs the others nothing.
    #[test]
    fn what_a_failed_change_wrote_is_undone() {
        let connection = Connection::open_in_memory().expect("a database in memory");
        connection.execute_batch("CREATE TABLE numbers (number)").expect("a table");
        let figures = Figures::default();
        let numbers = || -> Vec<i64> {
            let mut statement = connection.prepare("SELECT number FROM numbers").expect("a query");
            let rows = statement.query_map([], |row| row.get(0)).expect("rows");
            rows.collect::<Result<_, _>>().expect("numbers")
        };
        let (alone, mut refused) = job(1, true);
        commit(&connection, vec![alone], &figures);
        assert!(refused.try_recv().expect("an answer").is_err());
        assert_eq!(numbers(), [0_i64; 0]);

        let (group, answers): (Vec<_>, Vec<_>) = [job(2, false), job(3, true), job(4, false)].into_iter().unzip();
        commit(&connection, group, &figures);
        let kept = answers.into_iter().map(|mut answer| answer.try_recv().expect("an answer").is_ok());
        assert_eq!(kept.collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(numbers(), [2, 4]);
        let counted = (figures.rows.into_inner(), figures.transactions.into_inner());
        assert_eq!(counted, (2, 1));
    }

    /// How many transactions so many changes of so many bytes take that wait together.
    fn transactions(changes: usize, bytes: usize) -> u64 {
        let connection = Connection::open_in_memory().expect("a database in memory");
        let figures = Figures::default();
        let (sender, waiting) = std::sync::mpsc::channel::<Box<dyn Change>>();
        for _ in 0..changes {
            let (answer, _) = oneshot::channel();
            let work = |_: &Connection| Ok(());
            let change = Job { run_id: None, bytes, rows: 1, work, said: None, answer };
            sender.send(Box::new(change)).expect("it is received");
        }
        drop(sender);
        write(&connection, &waiting, &figures);
        assert_eq!(figures.rows.into_inner(), changes as u64);
        figures.transactions.into_inner()
    }

    #[test]
    fn changes_share_a_transaction_up_to_a_number_and_up_to_a_size() {
        assert_eq!(transactions(1, 0), 1);
        assert_eq!(transactions(GROUP, 1), 1);
        assert_eq!(transactions(2 * GROUP + 1, 1), 3);
        assert_eq!(transactions(17, GROUP_BYTES / 8), 3);
        assert_eq!(transactions(3, GROUP_BYTES), 3);
    }
}
