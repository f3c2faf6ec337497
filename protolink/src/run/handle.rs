//! A run in a task of its own.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::event::RunEvent;
use crate::hook::panic_message;
use crate::ids::RunId;
use crate::outcome::Outcome;

/// A started run. Dropping the handle lets the run go on.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
/// let handle = agent.run("Go.").run_id("r-1").start();
/// let mut events = handle.events();
/// let watching = tokio::spawn(async move {
///     let mut seen = 0;
///     while events.next().await.is_some() {
///         seen += 1;
///     }
///     seen
/// });
/// assert_eq!(handle.run_id().as_str(), "r-1");
/// assert!(handle.result().await?.answer().is_some());
/// assert!(watching.await? > 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RunHandle {
    run_id: RunId,
    cancel: CancellationToken,
    events: Mutex<Option<UnboundedReceiver<RunEvent>>>,
    task: JoinHandle<Result<Outcome, Error>>,
}

impl RunHandle {
    pub(super) fn new(
        run_id: RunId,
        cancel: CancellationToken,
        events: UnboundedReceiver<RunEvent>,
        task: JoinHandle<Result<Outcome, Error>>,
    ) -> Self {
        Self { run_id, cancel, events: Mutex::new(Some(events)), task }
    }

    /// The run.
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// What happens in the run, from its beginning. Reading it is up to you: the run goes on either way.
    ///
    /// It has one reader: asked a second time, it gives a stream without events.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
    /// let handle = agent.run("Go.").start();
    /// let mut events = handle.events();
    /// assert!(matches!(events.next().await, Some(RunEvent::Started { .. })));
    /// assert!(handle.events().next().await.is_none(), "it has one reader");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn events(&self) -> RunEvents {
        RunEvents { events: self.events.lock().unwrap_or_else(PoisonError::into_inner).take() }
    }

    /// Cancels the run, and has that recorded (contract S7). [`result`](Self::result) tells when it is done.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::hang()])).build()?;
    /// let handle = agent.run("Go.").start();
    /// handle.cancel();
    /// assert!(matches!(handle.result().await, Err(Error::Cancelled { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Waits for the end of the run.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
    /// let handle = agent.run("Go.").start();
    /// match handle.result().await? {
    ///     Outcome::Completed(answer) => assert_eq!(answer.text(), "done"),
    ///     Outcome::Interrupted(waits_for) => println!("{waits_for}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the run failed with.
    pub async fn result(self) -> Result<Outcome, Error> {
        match self.task.await {
            Ok(result) => result,
            Err(error) => Err(match error.try_into_panic() {
                Ok(panic) => Error::RunPanicked { run_id: self.run_id, message: panic_message(panic.as_ref()) },
                Err(_) => Error::Cancelled { run_id: self.run_id, step: 0 },
            }),
        }
    }
}

/// The events of a started run, from its beginning; also a `Stream` of [`futures-core`](futures_core).
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
/// let mut events = agent.run("Go.").start().events();
/// let mut last = None;
/// while let Some(event) = events.next().await {
///     last = Some(event);
/// }
/// assert!(matches!(last, Some(RunEvent::Completed(_))));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RunEvents {
    events: Option<UnboundedReceiver<RunEvent>>,
}

impl RunEvents {
    /// The next thing that happens; `None` when the run has ended.
    pub async fn next(&mut self) -> Option<RunEvent> {
        self.events.as_mut()?.recv().await
    }
}

impl Stream for RunEvents {
    type Item = RunEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.events.as_mut().map_or(Poll::Ready(None), |events| events.poll_recv(context))
    }
}
