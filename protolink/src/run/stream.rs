//! A run as a stream of what happens in it (contract F1, F4, F8).

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::error::Error;
use crate::event::RunEvent;
use crate::hook::BoxFuture;
use crate::outcome::Outcome;

/// What happens in a run, as it happens; reading the stream drives the run.
///
/// It ends with exactly one of `Completed`, `Interrupted` and an error. Dropping it before drops the run.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
/// let mut stream = agent.run("Go.").stream();
/// let mut last = None;
/// while let Some(event) = stream.next().await {
///     last = Some(event?);
/// }
/// assert!(matches!(last, Some(RunEvent::Completed(answer)) if answer.text() == "done"));
/// # Ok(())
/// # }
/// ```
#[must_use = "a streamed run does nothing unless it is read"]
pub struct RunStream<'c> {
    events: UnboundedReceiver<RunEvent>,
    run: Option<BoxFuture<'c, Result<Outcome, Error>>>,
    /// What ends the stream, once everything before it is read.
    last: Option<Error>,
}

impl<'c> RunStream<'c> {
    pub(super) fn new(events: UnboundedReceiver<RunEvent>, run: BoxFuture<'c, Result<Outcome, Error>>) -> Self {
        Self { events, run: Some(run), last: None }
    }

    /// The next thing that happens; `None` after the last.
    pub async fn next(&mut self) -> Option<Result<RunEvent, Error>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for RunStream<'_> {
    type Item = Result<RunEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            // All events are sent while the run is polled, so that nobody has to be woken for them. `poll_recv` would
            // also wait where the task's cooperative budget is used up, which reads like an empty channel.
            if let Ok(event) = self.events.try_recv() {
                return Poll::Ready(Some(Ok(event)));
            }
            let Some(run) = &mut self.run else {
                return Poll::Ready(self.last.take().map(Err));
            };
            match run.as_mut().poll(context) {
                Poll::Ready(result) => {
                    // Its events are all in the channel now; the end of a success is among them.
                    self.run = None;
                    self.last = result.err();
                }
                Poll::Pending => {
                    return match self.events.try_recv() {
                        Ok(event) => Poll::Ready(Some(Ok(event))),
                        Err(_) => Poll::Pending,
                    };
                }
            }
        }
    }
}

impl fmt::Debug for RunStream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunStream").field("ended", &self.run.is_none()).finish_non_exhaustive()
    }
}
