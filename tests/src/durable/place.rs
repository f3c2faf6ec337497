//! Where a test's runs are kept.

use std::sync::Arc;
use std::time::Duration;

use protolink::durable::{MemoryStore, RunStore, SqliteStore};
use protolink::testing::ManualClock;

use super::Outcome;

/// A place that keeps runs: memory, or a file in a folder of its own.
pub struct Place {
    name: &'static str,
    clock: ManualClock,
    kept: Kept,
}

enum Kept {
    Memory(MemoryStore),
    File(tempfile::TempDir),
}

impl Place {
    /// A place in memory.
    #[must_use]
    pub fn memory() -> Self {
        let clock = ManualClock::new();
        Self { name: "memory", kept: Kept::Memory(MemoryStore::new().with_clock(clock.clone())), clock }
    }

    /// A place in a new file.
    ///
    /// # Errors
    /// Where no folder can be made.
    pub fn file() -> Outcome<Self> {
        Ok(Self { name: "sqlite", clock: ManualClock::new(), kept: Kept::File(tempfile::tempdir()?) })
    }

    /// What kind of place it is.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The store, opened anew as another process would.
    ///
    /// # Errors
    /// Where the file cannot be opened.
    pub fn store(&self) -> Outcome<Arc<dyn RunStore>> {
        Ok(match &self.kept {
            Kept::Memory(store) => Arc::new(store.clone()),
            Kept::File(folder) => {
                Arc::new(SqliteStore::open(folder.path().join("runs.sqlite"))?.with_clock(self.clock.clone()))
            }
        })
    }

    /// Lets so much time pass that every lease has run out.
    pub fn outlive_leases(&self) {
        self.clock.advance(Duration::from_hours(1));
    }

    /// The clock by which leases run out.
    #[must_use]
    pub fn clock(&self) -> &ManualClock {
        &self.clock
    }
}

/// Runs a test in memory and on a file.
///
/// # Errors
/// What the test failed with, and where.
pub async fn on_both(test: impl AsyncFn(&Place) -> Outcome) -> Outcome {
    for place in [Place::memory(), Place::file()?] {
        test(&place).await.map_err(|error| format!("in {}: {error}", place.name()))?;
    }
    Ok(())
}
