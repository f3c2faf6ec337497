//! Asking the model again when that may help (contract M6).

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How often, and after how long, a request is sent again after a transient error.
///
/// Waits grow exponentially and carry jitter; where the provider says how long to wait, that is what is waited.
///
/// ```
/// use protolink::prelude::*;
/// use std::time::Duration;
///
/// let retry = Retry::new()
///     .max_attempts(6)
///     .min_delay(Duration::from_millis(200))
///     .max_delay(Duration::from_secs(10));
/// # let _ = Agent::builder("a").retry(retry);
/// assert_eq!(Retry::never(), Retry::new().max_attempts(1));
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
        Waits { retry: *self, waited: 0 }
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self::new()
    }
}

pub(crate) struct Waits {
    retry: Retry,
    waited: u32,
}

impl Waits {
    /// How long to wait before the next attempt; `None` when there is none.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let longest = self.retry.max_delay;
        if self.waited + 1 >= self.retry.attempts || asked.is_some_and(|asked| asked > longest) {
            return None;
        }
        let wait = asked.unwrap_or_else(|| self.between(random()));
        self.waited += 1;
        Some(wait)
    }

    /// A wait that doubles each time, and up to as much again, so that those who failed together do not come back
    /// together; `part` of 0 to 1 says how much.
    fn between(&self, part: f64) -> Duration {
        let Retry { min_delay, max_delay: longest, .. } = self.retry;
        let doubled = min_delay.saturating_mul(2_u32.saturating_pow(self.waited));
        let least = doubled.min(longest / 2).max(min_delay.min(longest));
        let most = doubled.saturating_mul(2).min(longest);
        least.saturating_add(most.saturating_sub(least).mul_f64(part))
    }
}

/// A number of 0 to 1, good enough to spread waits.
fn random() -> f64 {
    // Every hasher of the standard library is keyed anew.
    let bits = u32::try_from(RandomState::new().build_hasher().finish() >> 32).unwrap_or_default();
    f64::from(bits) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(attempts: u32) -> Waits {
        let retry = Retry::new().min_delay(Duration::from_millis(100)).max_delay(Duration::from_secs(1));
        retry.max_attempts(attempts).waits()
    }

    #[test]
    fn m6_waits_double_up_to_the_longest_and_are_spread() {
        let mut waits = waits(7);
        for (least, most) in [(100, 200), (200, 400), (400, 800), (500, 1_000), (500, 1_000), (500, 1_000)] {
            let (least, most) = (Duration::from_millis(least), Duration::from_millis(most));
            assert_eq!((waits.between(0.0), waits.between(1.0)), (least, most));
            let wait = waits.next(None).unwrap();
            assert!((least..=most).contains(&wait), "{wait:?}");
        }
        assert_eq!(waits.next(None), None, "seven attempts have six waits between them");
        assert_ne!(random().to_bits(), random().to_bits());
    }

    #[test]
    fn m6_what_the_provider_asks_for_is_waited_unless_it_is_too_long() {
        let mut waits = waits(4);
        assert_eq!(waits.next(Some(Duration::from_secs(1))), Some(Duration::from_secs(1)));
        assert_eq!(waits.next(Some(Duration::from_secs(2))), None);
    }

    #[test]
    fn m6_waits_of_extreme_length_do_not_overflow() {
        let retry = Retry::new().max_attempts(u32::MAX).min_delay(Duration::MAX).max_delay(Duration::MAX);
        let waits = Waits { retry, waited: 1_000 };
        assert_eq!(waits.between(1.0), Duration::MAX);
        let none = Retry::new().min_delay(Duration::ZERO).max_delay(Duration::ZERO);
        assert_eq!(none.waits().next(None), Some(Duration::ZERO));
    }
}
