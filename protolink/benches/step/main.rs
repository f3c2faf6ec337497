//! The loop's figures: what a step, a hook and a large result cost, each beside its baseline in the same run.
//!
//! Time is the time of the measuring thread on its processor, so that other programs on the machine do not count.

mod by_hand;
mod clock;
mod hooks;
mod in_the_loop;
mod large_results;
mod subject;

use criterion::{Criterion, criterion_group, criterion_main};

use clock::ThreadClock;

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ThreadClock);
    targets = in_the_loop::steps, hooks::sync_hooks, hooks::async_hooks, large_results::read_or_changed
}
criterion_main!(benches);
