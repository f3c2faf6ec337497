//! The time that a thread spends on its processor, as criterion's measure.

use std::cell::Cell;
use std::time::Duration;

use cpu_time::ThreadTime;
use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};

thread_local! {
    static BEGAN: Cell<Option<ThreadTime>> = const { Cell::new(None) };
    static TOOK: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Begins to measure on this thread.
pub(crate) fn begin() {
    BEGAN.set(Some(ThreadTime::now()));
}

/// Ends it.
pub(crate) fn end() {
    TOOK.set(BEGAN.get().map_or(Duration::ZERO, |began| began.elapsed()));
}

/// What was measured last on this thread.
pub(crate) fn took() -> Duration {
    TOOK.get()
}

/// Has criterion count a thread's own time.
#[derive(Debug)]
pub(crate) struct ThreadClock;

impl Measurement for ThreadClock {
    type Intermediate = ThreadTime;
    type Value = Duration;

    fn start(&self) -> ThreadTime {
        ThreadTime::now()
    }

    fn end(&self, began: ThreadTime) -> Duration {
        began.elapsed()
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Nanoseconds
    }
}

/// Writes times as criterion writes those of a clock on the wall.
struct Nanoseconds;

impl ValueFormatter for Nanoseconds {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_values(typical, values)
    }

    fn scale_throughputs(&self, typical: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_throughputs(typical, throughput, values)
    }

    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_for_machines(values)
    }
}
