//! Why a run failed.

mod about;
mod build;

pub use build::BuildError;

use crate::change::Change;
use crate::durable::StoreError;
use crate::fingerprint::ContractChange;
use crate::hook::{BoxError, Stage};
use crate::ids::{ActionId, RunId};
use crate::model::ModelError;
use crate::outcome::Interruption;
use crate::rules::BudgetLimit;
use crate::rules::context::ContextOverflow;
use crate::value::ValueError;

/// Why a run failed or cannot go on; it names the run, and the step, hook or tool.
///
/// Its text holds no refused answer and no result of a tool (contract F6, T3).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// #[before_model]
/// fn needs_a_catalogue(_request: &mut ModelRequest<'_>) -> Result<(), std::io::Error> {
///     Err(std::io::ErrorKind::NotFound.into())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::text("done")]);
/// let agent = Agent::builder("a").model(model).hooks(hooks![needs_a_catalogue]).build()?;
/// let error = agent.run("Go.").run_id("r-1").await.err().ok_or("it fails")?;
/// assert_eq!(
///     error.to_string(),
///     "the before_model hook `needs_a_catalogue` failed at step 1 of run `r-1`"
/// );
/// assert_eq!(error.run_id().map(|run_id| run_id.as_str()), Some("r-1"));
/// assert_eq!(error.kind(), "hook");
///
/// // The hook's own error is its source.
/// let Error::Hook { source, .. } = error else { panic!("a hook failed") };
/// assert!(source.downcast_ref::<std::io::Error>().is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A hook failed, panicked or passed its deadline (contract S5, S9). Of its own edits nothing was kept.
    ///
    /// `source` is the hook's own error, for downcasting; [`HookPanicked`](crate::HookPanicked) and
    /// [`HookTimedOut`](crate::HookTimedOut) are the other two.
    #[error("the {stage} hook `{hook}` failed at step {step} of run `{run_id}`")]
    Hook {
        /// The run.
        run_id: RunId,
        /// The stage.
        stage: Stage,
        /// The hook's name.
        hook: String,
        /// The step, counted from 1.
        step: u32,
        /// The hook's own error.
        source: BoxError,
    },
    /// What a hook gave back cannot be stored exactly (contract T7).
    #[error("the {stage} hook `{hook}` gave back what cannot be kept, at step {step} of run `{run_id}`")]
    HookValue {
        /// The run.
        run_id: RunId,
        /// The stage.
        stage: Stage,
        /// The hook's name.
        hook: String,
        /// The step, counted from 1.
        step: u32,
        /// What is wrong with it.
        source: ValueError,
    },
    /// After the hooks no user message was left to send; nothing was sent (contract M14).
    #[error("after the {stage} hooks no user message was left at step {step} of run `{run_id}`; nothing was sent")]
    EmptyRequest {
        /// The run.
        run_id: RunId,
        /// The stage whose hooks emptied the request.
        stage: Stage,
        /// The step, counted from 1.
        step: u32,
    },
    /// The model gave no reply, after all attempts.
    #[error("the model failed at step {step} of run `{run_id}`, after {attempts} attempts")]
    Model {
        /// The run.
        run_id: RunId,
        /// The step, counted from 1.
        step: u32,
        /// How often it was asked.
        attempts: u32,
        /// The last failure.
        source: ModelError,
    },
    /// The model panicked.
    #[error("the model panicked at step {step} of run `{run_id}`: {message}")]
    ModelPanicked {
        /// The run.
        run_id: RunId,
        /// The step, counted from 1.
        step: u32,
        /// What it panicked with, where that is text.
        message: String,
    },
    /// The reply was cut off by the provider, so that it is no answer and none of its calls runs (contract F5).
    #[error("the model's reply at step {step} of run `{run_id}` was cut off; it is no answer")]
    Truncated {
        /// The run.
        run_id: RunId,
        /// The step, counted from 1.
        step: u32,
    },
    /// A tool failed.
    #[error("the tool `{tool}` failed at step {step} of run `{run_id}`")]
    Tool {
        /// The run.
        run_id: RunId,
        /// The tool.
        tool: String,
        /// The provider's identifier of the call.
        call_id: String,
        /// The step, counted from 1.
        step: u32,
        /// The tool's own error.
        source: BoxError,
    },
    /// A tool succeeded with a result that cannot be stored exactly: its effect is on record as done, and
    /// [`Agent::reconcile`](crate::Agent::reconcile) gives it a result (contract T7).
    #[error("the tool `{tool}` gave back what cannot be kept, at step {step} of run `{run_id}`; its effect is done")]
    ToolValue {
        /// The run.
        run_id: RunId,
        /// The tool.
        tool: String,
        /// The action that is done.
        action_id: ActionId,
        /// The step, counted from 1.
        step: u32,
        /// What is wrong with the result.
        source: ValueError,
    },
    /// The model asked too often for what it was refused (contract M9).
    #[error("the model made more than {limit} calls that were refused; the last at step {step} of run `{run_id}`")]
    ToolCorrections {
        /// The run.
        run_id: RunId,
        /// The step of the last one.
        step: u32,
        /// How many corrections a run may take.
        limit: u32,
    },
    /// The next operation would have passed a limit of the budget (contract P2).
    #[error("the budget of {limit} is used up at step {step} of run `{run_id}`")]
    Budget {
        /// The run.
        run_id: RunId,
        /// The last step that began, counted from 1; 0 where none did.
        step: u32,
        /// The limit.
        limit: BudgetLimit,
    },
    /// What the context policy must not drop does not fit; nothing was sent (contract M7).
    #[error("the request of step {step} of run `{run_id}` does not fit the context")]
    Context {
        /// The run.
        run_id: RunId,
        /// The step, counted from 1.
        step: u32,
        /// By how much.
        source: ContextOverflow,
    },
    /// A hook asked for another answer, which the agent does not allow.
    #[error("the hook `{hook}` asked for a revision at step {step} of run `{run_id}`; allow it by `max_revisions`")]
    RevisionsNotAllowed {
        /// The run.
        run_id: RunId,
        /// The hook.
        hook: String,
        /// The step, counted from 1.
        step: u32,
    },
    /// The answer was sent back as often as the agent allows, and is still not accepted.
    #[error("the answer was still not accepted after {limit} revisions, at step {step} of run `{run_id}`")]
    Revisions {
        /// The run.
        run_id: RunId,
        /// The step of the last answer.
        step: u32,
        /// How many revisions a run may take.
        limit: u32,
    },
    /// The answer does not fit the type that the application asked for.
    #[error("the answer of run `{run_id}` at step {step} does not fit the type that was asked for")]
    Answer {
        /// The run.
        run_id: RunId,
        /// The step, counted from 1.
        step: u32,
        /// Why.
        source: ValueError,
    },
    /// A call needs a person's yes, and there is neither an approver that gives it nor a store to wait in.
    #[error(
        "the call of `{tool}` at step {step} of run `{run_id}` needs approval, and nobody can give it; \
             set `.approver(..)` or `.durable(..)`"
    )]
    ApprovalUnavailable {
        /// The run.
        run_id: RunId,
        /// The tool.
        tool: String,
        /// The step, counted from 1.
        step: u32,
    },
    /// The run waits for a person. Not a failure: [`Agent::resume`](crate::Agent::resume) goes on with it.
    #[error("{0}")]
    Interrupted(Box<Interruption>),
    /// The run was cancelled (contract S7).
    #[error("run `{run_id}` was cancelled at step {step}")]
    Cancelled {
        /// The run.
        run_id: RunId,
        /// The step, counted from 1.
        step: u32,
    },
    /// An action was started and nobody knows what came of it (contract D3).
    #[error(
        "run `{run_id}` cannot go on: nobody knows what came of the action `{action_id}` of the tool `{tool}`; \
             give its result to `reconcile`"
    )]
    Uncertain {
        /// The run.
        run_id: RunId,
        /// The action.
        action_id: ActionId,
        /// The tool.
        tool: String,
    },
    /// The agent is not the one that the run was started with (contract D5).
    #[error("run `{run_id}` was started under another contract: {}", in_words(changes))]
    ContractChanged {
        /// The run.
        run_id: RunId,
        /// What changed.
        changes: Vec<ContractChange>,
    },
    /// The response is not for what the run waits for (contract D4, D11).
    #[error("the response is not for what run `{run_id}` waits for: {reason}")]
    StaleResponse {
        /// The run.
        run_id: RunId,
        /// What does not match.
        reason: &'static str,
    },
    /// The run cannot be resumed.
    #[error("run `{run_id}` cannot be resumed: {reason}")]
    NotResumable {
        /// The run.
        run_id: RunId,
        /// Why.
        reason: &'static str,
    },
    /// The run's own task panicked: an error of this crate.
    #[error("run `{run_id}` panicked: {message}")]
    RunPanicked {
        /// The run.
        run_id: RunId,
        /// What it panicked with, where that is text.
        message: String,
    },
    /// Another worker holds the run (contract D7).
    #[error("run `{run_id}` is held by another worker")]
    RunBusy {
        /// The run.
        run_id: RunId,
    },
    /// The conversation has a run that has not ended; it is to be resumed, or cancelled, first.
    #[error("the conversation `{conversation}` waits for its run `{run_id}`: resume it or cancel it first")]
    ConversationOpen {
        /// The conversation.
        conversation: String,
        /// The run.
        run_id: RunId,
    },
    /// A run was given an empty id, by which nothing could be found again. Nothing was run.
    #[error("a run was given an empty id; leave `.run_id(..)` away for a random one")]
    EmptyRunId,
    /// The agent has no store, and the operation needs one.
    #[error("the agent `{agent}` has no store; set one with `.durable(..)`")]
    NoStore {
        /// The agent.
        agent: String,
    },
    /// The agent could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The store failed or refused.
    #[error(transparent)]
    Store(StoreError),
    /// A value cannot be stored exactly.
    #[error("a value for run `{run_id}` cannot be kept")]
    Value {
        /// The run.
        run_id: RunId,
        /// Why.
        source: ValueError,
    },
    /// The agent has no tool of this name.
    #[error("the agent `{agent}` has no tool `{tool}`")]
    UnknownTool {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// A direct call was refused: by its arguments, by the tool, by the policy, or by a person.
    #[error("the call of `{tool}` in run `{run_id}` was refused: {reason}")]
    CallRefused {
        /// The run.
        run_id: RunId,
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
    },
    /// The blocking facade was called inside an async runtime, which it would block.
    #[error("`blocking()` was called inside an async runtime; use `.await` there")]
    BlockingInRuntime,
    /// The blocking facade could not start a runtime.
    #[error("no runtime could be started")]
    NoRuntime(#[source] std::io::Error),
    /// A hook did not do the same twice, and the agent is strict about that. Both lists hold contents only where the
    /// application switched their capture on, and digests elsewhere.
    #[error(
        "the {stage} hook `{hook}` did not do the same twice, at step {step} of run `{run_id}`: first {}, then {}",
        in_order(first),
        in_order(second)
    )]
    NotRepeatable {
        /// The run.
        run_id: RunId,
        /// The stage.
        stage: Stage,
        /// The hook's name.
        hook: String,
        /// The step, counted from 1.
        step: u32,
        /// What it did first.
        first: Vec<Change>,
        /// What it did then.
        second: Vec<Change>,
    },
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy { run_id, .. } => Self::RunBusy { run_id },
            other => Self::Store(other),
        }
    }
}

fn in_order(changes: &[Change]) -> String {
    if changes.is_empty() {
        return "nothing".to_owned();
    }
    changes.iter().map(|change| format!("{change:?}")).collect::<Vec<_>>().join(", ")
}

fn in_words(changes: &[ContractChange]) -> String {
    changes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
