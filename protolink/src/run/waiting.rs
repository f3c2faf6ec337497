//! Waiting for application code and for time, without being at its mercy.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio_util::sync::CancellationToken;

use crate::hook::panic_message;

/// Waits for the future, unless the run is cancelled first; then the future is dropped where it waits (contract S7).
///
/// What is ready when the run is cancelled still counts: a tool that stops when it is told has an outcome to keep.
pub(super) async fn unless_cancelled<F: Future>(cancel: &CancellationToken, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    // What is ready at once costs no registration with the token.
    if let Poll::Ready(output) = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await {
        return Some(output);
    }
    let mut cancelled = pin!(cancel.cancelled());
    poll_fn(|context| {
        if let Poll::Ready(output) = future.as_mut().poll(context) {
            return Poll::Ready(Some(output));
        }
        cancelled.as_mut().poll(context).map(|()| None)
    })
    .await
}

/// Waits for the future; a panic in it is its text.
pub(super) async fn catching_panics<F: Future>(future: F) -> Result<F::Output, String> {
    let mut future = pin!(future);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panic) => Poll::Ready(Err(panic_message(panic.as_ref()))),
    })
    .await
}

/// Futures of one turn that run side by side in the run's own task: dropping the run drops them all.
pub(super) struct SideBySide<'f, T> {
    running: Vec<Pin<Box<dyn Future<Output = T> + Send + 'f>>>,
}

impl<'f, T> SideBySide<'f, T> {
    pub(super) fn new() -> Self {
        Self { running: Vec::new() }
    }

    pub(super) fn push(&mut self, future: impl Future<Output = T> + Send + 'f) {
        self.running.push(Box::pin(future));
    }

    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    /// The output of the first that ends; `None` when none runs.
    pub(super) async fn next(&mut self) -> Option<T> {
        if self.running.is_empty() {
            return None;
        }
        let (index, output) = poll_fn(|context| {
            let ready =
                self.running.iter_mut().enumerate().find_map(|(index, future)| match future.as_mut().poll(context) {
                    Poll::Ready(output) => Some((index, output)),
                    Poll::Pending => None,
                });
            ready.map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        drop(self.running.remove(index));
        Some(output)
    }
}

/// Waits for the work, and lets something else go on beside it.
pub(super) async fn beside<W: Future>(work: W, other: impl Future<Output = ()>) -> W::Output {
    let mut work = pin!(work);
    let mut other = pin!(other);
    let mut other_ended = false;
    poll_fn(|context| {
        if let Poll::Ready(output) = work.as_mut().poll(context) {
            return Poll::Ready(output);
        }
        if !other_ended {
            other_ended = other.as_mut().poll(context).is_ready();
        }
        Poll::Pending
    })
    .await
}
