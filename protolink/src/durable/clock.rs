//! The one place that time comes from.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A moment, in milliseconds since 1970 (UTC); shown as `2026-01-31T12:00:00.000Z`.
///
/// ```
/// use protolink::durable::Timestamp;
/// use std::time::Duration;
///
/// let start = Timestamp::from_millis(1_769_860_800_000);
/// assert_eq!(start.to_string(), "2026-01-31T12:00:00.000Z");
///
/// let later = start.after(Duration::from_secs(90));
/// assert_eq!(later.as_millis() - start.as_millis(), 90_000);
/// assert_eq!(later.since(start), Duration::from_secs(90));
/// assert_eq!(later.before(Duration::from_secs(90)), start);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The moment that many milliseconds after (or, negative, before) the start of 1970.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the start of 1970.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The moment `duration` later, or the last one that can be told.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    /// The moment `duration` earlier, or the first one that can be told.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    /// How long ago `earlier` was; nothing when it lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(1000);
        let (year, month, day) = civil_date(seconds.div_euclid(86_400));
        let second = seconds.rem_euclid(86_400);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
            second / 3600,
            second / 60 % 60,
            second % 60,
            self.0.rem_euclid(1000)
        )
    }
}

/// Year, month and day of the proleptic Gregorian calendar, from days since 1970-01-01.
///
/// Years are counted from March, so that the leap day ends a year and months follow a straight line.
fn civil_date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Tells the time.
///
/// Leases are measured by the clock of the store, so workers that share a store should agree about the time.
/// A clock that is wrong costs waiting or a lost lease; it never lets two workers commit to one run, because an
/// append is fenced by the lease's epoch, not by the time alone.
///
/// ```
/// use protolink::durable::{Clock, MemoryStore, SystemClock, Timestamp};
/// use std::time::Duration;
///
/// /// A clock of a machine that is known to be a minute ahead.
/// #[derive(Debug)]
/// struct Corrected;
///
/// impl Clock for Corrected {
///     fn now(&self) -> Timestamp {
///         SystemClock.now().before(Duration::from_secs(60))
///     }
/// }
///
/// let store = MemoryStore::new().with_clock(Corrected);
/// # let _ = store;
/// ```
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The time now; it may go backwards.
    fn now(&self) -> Timestamp;
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// The clock of the operating system.
///
/// ```
/// use protolink::durable::{Clock, SystemClock, Timestamp};
///
/// assert!(SystemClock.now() > Timestamp::from_millis(1_700_000_000_000));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => Timestamp::default().after(since),
            Err(before) => Timestamp::default().before(before.duration()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_read_as_dates() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
        }
    }

    #[test]
    fn the_ends_of_time_are_no_panic() {
        for millis in [i64::MIN, i64::MAX] {
            let end = Timestamp::from_millis(millis);
            assert!(!end.to_string().is_empty());
            assert!(end.after(Duration::MAX) >= end.before(Duration::MAX));
            assert_eq!(Timestamp::from_millis(i64::MIN).since(end), Duration::ZERO);
        }
    }
}
