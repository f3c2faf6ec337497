//! Places at which a child can die.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the places that a child passes, and kills the child at one of them.
pub(crate) struct Points {
    passed: AtomicU64,
    deadly: Option<u64>,
    /// Where the count is written down.
    file: PathBuf,
}

impl Points {
    pub(crate) fn new(deadly: Option<u64>, file: PathBuf) -> Self {
        Self { passed: AtomicU64::new(0), deadly, file }
    }

    /// A place is passed; at the deadly one the process is killed, so that nothing of it runs any more.
    pub(crate) fn pass(&self) {
        let passed = self.passed.fetch_add(1, Ordering::SeqCst) + 1;
        if self.deadly == Some(passed) {
            let own = std::process::id().to_string();
            let killed = std::process::Command::new("kill").args(["-9", &own]).status();
            panic!("it should be dead: {killed:?}");
        }
    }

    /// Writes down how many places there were.
    pub(crate) fn write(&self) {
        std::fs::write(&self.file, self.passed.load(Ordering::SeqCst).to_string()).expect("the folder is there");
    }
}
