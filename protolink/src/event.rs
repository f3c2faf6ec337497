//! What can be watched of a run, and who watches (contract P3).

mod effect;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::change::{Captured, Change};
use crate::hook::{BoxError, Stage};
use crate::ids::{ActionId, RunId};
use crate::model::{FinishReason, Usage};
use crate::outcome::{Answer, Interruption};
use crate::rules::context::ContextManifest;
use crate::value::SharedValue;

pub use effect::{HookDifference, HookEffect};

/// Something that happened in a run.
///
/// Contents of messages and results are there only where the application switched content capture on; else their
/// digests are (contract T3).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a")
///     .model(ScriptedModel::new([Reply::text("done")]))
///     .observer(|event: &RunEvent| match event {
///         RunEvent::HookRan { stage, hook, step, effect, .. } => {
///             println!("{step}: {stage} {hook}: {effect:?}")
///         }
///         RunEvent::ToolFinished { tool, duration, .. } => println!("{tool} took {duration:?}"),
///         // Each is a line of JSON, too.
///         other => println!("{}", serde_json::to_string(other).unwrap_or_default()),
///     })
///     .build()?;
/// agent.invoke("Go.").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunEvent {
    /// The run began, or goes on after a resume.
    Started {
        /// The run.
        run_id: RunId,
        /// Whether it goes on after a resume.
        resumed: bool,
    },
    /// A step began.
    StepStarted {
        /// The step, counted from 1.
        step: u32,
    },
    /// A hook returned `Ok`.
    HookRan {
        /// The stage.
        stage: Stage,
        /// The hook's name.
        hook: String,
        /// The step, counted from 1.
        step: u32,
        /// What it did.
        changes: Vec<Change>,
        /// What that amounts to.
        effect: HookEffect,
        /// How long it took.
        duration: Duration,
    },
    /// The request is ready: this is what it is made of.
    ContextPrepared {
        /// The step, counted from 1.
        step: u32,
        /// The parts of the request and their sizes.
        manifest: ContextManifest,
    },
    /// The model is asked.
    ModelRequested {
        /// The step, counted from 1.
        step: u32,
        /// The attempt, counted from 1.
        attempt: u32,
        /// The tools that it is told of.
        tools: Vec<String>,
    },
    /// A piece of text that the model is making. It is provisional: the answer that counts comes with `Completed`
    /// (contract F4).
    TextDelta {
        /// The step, counted from 1.
        step: u32,
        /// The piece.
        text: String,
    },
    /// The text that was shown at this step is no answer: the turn called tools, was refused, or goes back to the model.
    Retracted {
        /// The step, counted from 1.
        step: u32,
    },
    /// The model is asked again after a transient error.
    ModelRetried {
        /// The step, counted from 1.
        step: u32,
        /// The attempt that failed, counted from 1.
        attempt: u32,
        /// How long is waited.
        wait: Duration,
    },
    /// The model replied.
    ModelReplied {
        /// The step, counted from 1.
        step: u32,
        /// What it cost.
        usage: Usage,
        /// Why it stopped.
        finish_reason: FinishReason,
        /// How many tools it calls.
        calls: usize,
    },
    /// A call was refused, and the model is told why (contract M9, P1).
    CallRefused {
        /// The step, counted from 1.
        step: u32,
        /// The provider's identifier of the call.
        call_id: String,
        /// What the model is told.
        reason: String,
    },
    /// A tool starts.
    ToolStarted {
        /// The step, counted from 1.
        step: u32,
        /// The provider's identifier of the call.
        call_id: String,
        /// The tool.
        tool: String,
        /// The action.
        action_id: ActionId,
    },
    /// A tool ended, and its receipt is committed.
    ToolFinished {
        /// The step, counted from 1.
        step: u32,
        /// The provider's identifier of the call.
        call_id: String,
        /// The tool.
        tool: String,
        /// Whether it succeeded.
        succeeded: bool,
        /// How long it took.
        duration: Duration,
    },
    /// What the model sees of a successful call, beside what really happened.
    Observed {
        /// The step, counted from 1.
        step: u32,
        /// The provider's identifier of the call.
        call_id: String,
        /// The tool.
        tool: String,
        /// The true result.
        result: Captured<SharedValue>,
        /// What the model sees.
        observed: Captured<SharedValue>,
    },
    /// The answer goes back to the model with feedback.
    RevisionRequested {
        /// The step, counted from 1.
        step: u32,
        /// The revision, counted from 1.
        revision: u32,
    },
    /// An observer failed; the run goes on.
    ObserverFailed {
        /// What it failed with.
        message: String,
    },
    /// The run waits for a person. Nothing comes after it.
    Interrupted(Box<Interruption>),
    /// The run gave its validated answer. Nothing comes after it.
    Completed(Answer),
    /// The run failed or was cancelled. Nothing comes after it; the error goes to whoever awaits the run.
    Failed {
        /// What the error says.
        error: String,
    },
}

/// Watches runs. It sees everything and can stop nothing: its failure, or its panic, is reported and the run goes on.
///
/// A function or closure that takes `&RunEvent` is one.
///
/// ```
/// use protolink::prelude::*;
///
/// # let _ =
/// Agent::builder("a").observer(|event: &RunEvent| {
///     if let RunEvent::HookRan { hook, changes, .. } = event {
///         println!("{hook} made {} changes", changes.len());
///     }
/// });
/// ```
pub trait Observer: Send + Sync + 'static {
    /// Is told of an event, in the order in which things happen. It should return soon: the run waits for it.
    ///
    /// ```
    /// use protolink::prelude::*;
    /// use protolink::{BoxError, Observer};
    /// use std::io::Write;
    /// use std::sync::Mutex;
    ///
    /// /// Writes a line of JSON for each event.
    /// struct Log<W>(Mutex<W>);
    ///
    /// impl<W: Write + Send + 'static> Observer for Log<W> {
    ///     fn observe(&self, event: &RunEvent) -> Result<(), BoxError> {
    ///         let mut writer = self.0.lock().map_err(|_| "the log is broken")?;
    ///         writeln!(writer, "{}", serde_json::to_string(event)?)?;
    ///         Ok(())
    ///     }
    /// }
    /// # let _ =
    /// Agent::builder("a").observer(Log(Mutex::new(std::io::stderr())));
    /// ```
    ///
    /// # Errors
    /// Whatever it wants reported.
    fn observe(&self, event: &RunEvent) -> Result<(), BoxError>;
}

impl<F: Fn(&RunEvent) + Send + Sync + 'static> Observer for F {
    fn observe(&self, event: &RunEvent) -> Result<(), BoxError> {
        self(event);
        Ok(())
    }
}
