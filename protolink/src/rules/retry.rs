//! Asking the model again when that may help (contract M6).

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use serde::{Deserialize, Serialize};

/// How often, and after how long, a request is sent again after a transient error.
///
/// Waits grow exponentially and carry jitter; where the provider says how long to wait, that is what is waited.
///
/// ```
/// use protolink::prelude::*;
/// use std::time::Duration;
///
/// let retry = Retry::new().max_attempts(6).min_delay(Duration::from_millis(200));
/// # let _ = Agent::builder("a").retry(retry);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    attempts: u32,
    min_delay: Duration,
    max_delay: Duration,
}

impl Retry {
    /// Up to four attempts, with waits from half a second to half a minute.
    #[must_use]
    pub fn new() -> Self {
        Self { attempts: 4, min_delay: Duration::from_millis(500), max_delay: Duration::from_secs(30) }
    }

    /// One attempt.
    #[must_use]
    pub fn never() -> Self {
        Self::new().max_attempts(1)
    }

    /// At most this many attempts in all; 0 counts as 1.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// The first wait, before jitter.
    #[must_use]
    pub fn min_delay(mut self, delay: Duration) -> Self {
        self.min_delay = delay;
        self
    }

    /// The longest wait; a longer one that the provider asks for ends the attempts.
    #[must_use]
    pub fn max_delay(mut self, delay: Duration) -> Self {
        self.max_delay = delay;
        self
    }

    /// The waits between the attempts.
    pub(crate) fn waits(&self) -> Waits {
        let backoff = ExponentialBuilder::new()
            .with_min_delay(self.min_delay)
            .with_max_delay(self.max_delay)
            .with_max_times(usize::try_from(self.attempts.saturating_sub(1)).unwrap_or(usize::MAX))
            .with_jitter()
            .build();
        Waits { backoff, longest: self.max_delay }
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self::new()
    }
}

pub(crate) struct Waits {
    backoff: ExponentialBackoff,
    longest: Duration,
}

impl Waits {
    /// How long to wait before the next attempt; `None` when there is none.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let wait = self.backoff.next()?;
        match asked {
            None => Some(wait),
            Some(asked) if asked <= self.longest => Some(asked),
            Some(_) => None,
        }
    }
}
