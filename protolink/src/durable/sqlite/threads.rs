//! The threads behind a store, and how they end.

use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use rusqlite::{Connection, OpenFlags};

use super::super::StoreError;
use super::fault::About;
use super::reader::{self, Question};
use super::schema::{self, Settings};
use super::writer::{self, Change, Figures};

/// How many threads read. Two keep a long load from holding up a short one.
const READERS: usize = 2;

/// The threads behind a store. Dropping this lets them finish what was sent, and waits for it.
pub(super) struct Threads {
    // Both are there until the drop.
    changes: Option<Sender<Box<dyn Change>>>,
    questions: Option<Sender<Question>>,
    running: Vec<JoinHandle<()>>,
}

impl Threads {
    pub(super) fn start(path: &Path, settings: Settings, figures: &Arc<Figures>) -> Result<Self, StoreError> {
        let mut connection = connect(path)?;
        schema::prepare(&mut connection, settings)?;
        let mut threads = Self { changes: None, questions: None, running: Vec::new() };

        let (sender, questions) = mpsc::channel();
        threads.questions = Some(sender);
        let questions = Arc::new(Mutex::new(questions));
        for _ in 0..READERS {
            let connection = connect(path)?;
            schema::prepare_reading(&connection, settings)?;
            let questions = Arc::clone(&questions);
            threads.spawn("run store reader", move || {
                reader::read(&connection, &questions);
            })?;
        }

        let (sender, changes) = mpsc::channel();
        threads.changes = Some(sender);
        let figures = Arc::clone(figures);
        threads.spawn("run store writer", move || {
            writer::write(&connection, &changes, &figures);
        })?;
        Ok(threads)
    }

    /// Sends a change to be made. If nobody is there, it is dropped, and its caller sees that.
    pub(super) fn change(&self, change: Box<dyn Change>) {
        if let Some(changes) = &self.changes {
            drop(changes.send(change));
        }
    }

    /// Sends a question to be answered. If nobody is there, it is dropped, and its caller sees that.
    pub(super) fn read(&self, question: Question) {
        if let Some(questions) = &self.questions {
            drop(questions.send(question));
        }
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), StoreError> {
        let thread =
            thread::Builder::new().name(name.to_owned()).spawn(work).map_err(|error| StoreError::io(None, error))?;
        self.running.push(thread);
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.questions = None;
        let last = self.running.len().saturating_sub(1);
        for (index, thread) in self.running.drain(..).enumerate() {
            if index == last {
                // The writer was started last and ends last: the connection that closes after all others folds the log
                // into the file, and two that close at once leave it to each other.
                self.changes = None;
            }
            // An answer can wake a task that drops the last handle right there, on one of these threads, which then
            // ends by itself.
            if thread.thread().id() != thread::current().id() {
                drop(thread.join());
            }
        }
    }
}

/// Opens the file that is there. The path is taken as it is: not as a URI, and not as a name that means memory.
fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
    Connection::open_with_flags(path, flags).about_store()
}
