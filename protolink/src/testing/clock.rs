//! A clock that stands still until a test moves it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::durable::{Clock, Timestamp};

/// A clock that a test moves by hand, forwards and backwards; clones show the same time.
///
/// ```
/// use protolink::durable::{Clock, MemoryStore, Timestamp};
/// use protolink::testing::ManualClock;
/// use std::time::Duration;
///
/// let clock = ManualClock::new();
/// let store = MemoryStore::new().with_clock(clock.clone());
/// let start = clock.now();
/// clock.advance(Duration::from_secs(60));
/// assert_eq!(clock.now().since(start), Duration::from_secs(60));
/// clock.rewind(Duration::from_secs(90)); // as a corrected system clock does
/// clock.set(Timestamp::from_millis(0));
/// assert_eq!(clock.now(), ManualClock::at(Timestamp::from_millis(0)).now());
/// # drop(store);
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that shows the first moment of 2025.
    #[must_use]
    pub fn new() -> Self {
        Self::at(Timestamp::from_millis(1_735_689_600_000))
    }

    /// A clock that shows `now`.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.as_millis())))
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.set(self.now().after(by));
    }

    /// Moves the clock back, as a corrected system clock does.
    pub fn rewind(&self, by: Duration) {
        self.set(self.now().before(by));
    }

    /// Sets the clock to `now`.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_millis(), Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}
