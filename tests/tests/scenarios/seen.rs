//! What a command was seen to do.

use protolink::{Error, HookPanicked, HookTimedOut, Interruption, InterruptionRequest, Outcome};
use serde_json::Value;

use crate::hook::Raised;

/// What one command did, as far as its own result says it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// `completed`, `input-required`, `failed` or `canceled`; none where the command is not a run.
    pub(crate) state: Option<&'static str>,
    pub(crate) outputs: Vec<Value>,
    /// What tools gave back, where the scenario shows it.
    pub(crate) exposed: Vec<Value>,
    pub(crate) error: Option<SeenError>,
    pub(crate) interruption: Option<&'static str>,
    pub(crate) fingerprint: Option<Fingerprint>,
    /// What the command shows of the conversation or the run, for a person to read.
    pub(crate) shown: Option<Value>,
}

/// A fingerprint, and what it is to be the fingerprint of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub(crate) digest: String,
    pub(crate) contract: String,
}

/// An error under the names of the classes that it may have in the recorded runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenError {
    pub(crate) classes: Vec<String>,
    pub(crate) kind: &'static str,
    /// The text of a hook's or a tool's own error, which must come through unchanged.
    pub(crate) own: Option<String>,
    pub(crate) text: String,
}

impl Seen {
    pub(crate) fn outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Completed(answer) => {
                Self { state: Some("completed"), outputs: vec![answer.content().clone()], ..Self::default() }
            }
            Outcome::Interrupted(interruption) => {
                let interruption = Some(kind_of(&interruption));
                Self { state: Some("input-required"), interruption, ..Self::default() }
            }
        }
    }

    pub(crate) fn of(result: Result<Outcome, Error>) -> Self {
        match result {
            Ok(outcome) => Self::outcome(outcome),
            Err(Error::Interrupted(interruption)) => Self::outcome(Outcome::Interrupted(*interruption)),
            Err(error) => Self::failed(&error),
        }
    }

    pub(crate) fn failed(error: &Error) -> Self {
        let cancelled = matches!(error, Error::Cancelled { .. });
        let state = if cancelled { "canceled" } else { "failed" };
        Self { state: Some(state), error: Some(SeenError::of(error)), ..Self::default() }
    }

    /// A run that gave its worker back, and waits for the next slice of steps.
    pub(crate) fn yielded() -> Self {
        Self { state: Some("input-required"), interruption: Some("yield"), ..Self::default() }
    }
}

fn kind_of(interruption: &Interruption) -> &'static str {
    match interruption.request {
        InterruptionRequest::Approval { .. } => "approval",
        _ => "input",
    }
}

impl SeenError {
    pub(crate) fn new(kind: &'static str, classes: &[&str], text: impl Into<String>) -> Self {
        let classes = classes.iter().map(|&class| class.to_owned()).collect();
        Self { classes, kind, own: None, text: text.into() }
    }

    /// The classes that an error may have in the recorded runs.
    pub(crate) fn of(error: &Error) -> Self {
        let text = error.to_string();
        let new = |kind, classes: &[&str]| Self::new(kind, classes, text.clone());
        match error {
            Error::Hook { source, .. } => {
                if let Some(raised) = source.downcast_ref::<Raised>() {
                    // The recorded language turns an error that means the end of a loop into another one.
                    let ends_a_loop = raised.class == "StopIteration" || raised.class == "StopAsyncIteration";
                    let classes: &[&str] = if ends_a_loop { &["RuntimeError"] } else { &[&raised.class] };
                    let own = (raised.is_named && !ends_a_loop).then(|| raised.message.clone());
                    return Self { own, ..new("Hook", classes) };
                }
                let classes: &[&str] = if source.is::<HookTimedOut>() {
                    &["TimeoutError"]
                } else if source.is::<HookPanicked>() {
                    &["RuntimeError"]
                } else {
                    &["ValueError", "TypeError", "RuntimeError"]
                };
                Self { own: Some(source.to_string()), ..new("Hook", classes) }
            }
            Error::Tool { source, .. } => {
                Self { own: Some(source.to_string()), ..new("Tool", &["RuntimeError", "ToolExecutionError"]) }
            }
            Error::HookValue { .. } => new("HookValue", &["TypeError", "ValueError"]),
            Error::ToolValue { .. } => new("ToolValue", &["TypeError", "ValueError"]),
            Error::EmptyRequest { .. } => new("EmptyRequest", &["ValueError"]),
            Error::Model { .. } | Error::ModelPanicked { .. } => new("Model", &["RuntimeError"]),
            Error::Truncated { .. } => new("Truncated", &["InferParseError", "RuntimeError"]),
            Error::ToolCorrections { .. } => new("ToolCorrections", &["ToolCorrectionLimitError"]),
            // The step limit of the recorded loop is a plain error, every other limit is one of the budget.
            Error::Budget { .. } => new("Budget", &["BudgetExceededError", "RuntimeError"]),
            Error::Context { .. } => new("Context", &["ContextLimitError"]),
            Error::ApprovalUnavailable { .. } => new("ApprovalUnavailable", &["ApprovalRequiredError"]),
            Error::Cancelled { .. } => new("Cancelled", &["CancelledError", "TimeoutError"]),
            Error::Uncertain { .. } => new("Uncertain", &["UncertainExecutionError"]),
            Error::ContractChanged { .. } => new("ContractChanged", &["CheckpointMismatchError"]),
            Error::StaleResponse { .. } => new("StaleResponse", &["DurableExecutionError", "ValueError"]),
            Error::NotResumable { .. } => new("NotResumable", &["DurableExecutionError", "ValueError"]),
            Error::RunBusy { .. } => new("RunBusy", &["RunBusyError"]),
            Error::NoStore { .. } => new("NoStore", &["DurableExecutionError", "ValueError"]),
            Error::Store(_) => new("Store", &["DurableExecutionError", "CheckpointMismatchError"]),
            Error::UnknownTool { .. } => new("UnknownTool", &["ValueError", "KeyError", "ToolNotFoundError"]),
            Error::CallRefused { .. } => {
                new("CallRefused", &["ActionDeniedError", "ToolRejectedError", "ValueError", "TypeError"])
            }
            Error::ConversationOpen { .. } => new("ConversationOpen", &["DurableExecutionError", "RunBusyError"]),
            _ => new("another error", &[]),
        }
    }
}
