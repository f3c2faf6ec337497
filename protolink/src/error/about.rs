//! What an error is about.

use super::Error;
use crate::ids::RunId;

impl Error {
    /// The kind of the error in one word, for telemetry: it tells what went wrong, and nothing of with what.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Hook { .. } => "hook",
            Self::HookValue { .. } => "hook_value",
            Self::EmptyRequest { .. } => "empty_request",
            Self::Model { .. } => "model",
            Self::ModelPanicked { .. } => "model_panicked",
            Self::Truncated { .. } => "truncated",
            Self::Tool { .. } => "tool",
            Self::ToolValue { .. } => "tool_value",
            Self::ToolCorrections { .. } => "tool_corrections",
            Self::Budget { .. } => "budget",
            Self::Context { .. } => "context",
            Self::RevisionsNotAllowed { .. } => "revisions_not_allowed",
            Self::Revisions { .. } => "revisions",
            Self::Answer { .. } => "answer",
            Self::ApprovalUnavailable { .. } => "approval_unavailable",
            Self::Interrupted(_) => "interrupted",
            Self::Cancelled { .. } => "cancelled",
            Self::Uncertain { .. } => "uncertain",
            Self::ContractChanged { .. } => "contract_changed",
            Self::StaleResponse { .. } => "stale_response",
            Self::NotResumable { .. } => "not_resumable",
            Self::RunPanicked { .. } => "run_panicked",
            Self::RunBusy { .. } => "run_busy",
            Self::ConversationOpen { .. } => "conversation_open",
            Self::EmptyRunId => "empty_run_id",
            Self::NoStore { .. } => "no_store",
            Self::Build(_) => "build",
            Self::Store(_) => "store",
            Self::Value { .. } => "value",
            Self::UnknownTool { .. } => "unknown_tool",
            Self::CallRefused { .. } => "call_refused",
            Self::BlockingInRuntime => "blocking_in_runtime",
            Self::NoRuntime(_) => "no_runtime",
            Self::NotRepeatable { .. } => "not_repeatable",
        }
    }

    /// The run, where the error is about one.
    #[must_use]
    pub fn run_id(&self) -> Option<&RunId> {
        match self {
            Self::Hook { run_id, .. }
            | Self::HookValue { run_id, .. }
            | Self::EmptyRequest { run_id, .. }
            | Self::Model { run_id, .. }
            | Self::ModelPanicked { run_id, .. }
            | Self::Truncated { run_id, .. }
            | Self::Tool { run_id, .. }
            | Self::ToolValue { run_id, .. }
            | Self::ToolCorrections { run_id, .. }
            | Self::Budget { run_id, .. }
            | Self::Context { run_id, .. }
            | Self::RevisionsNotAllowed { run_id, .. }
            | Self::Revisions { run_id, .. }
            | Self::Answer { run_id, .. }
            | Self::ApprovalUnavailable { run_id, .. }
            | Self::Cancelled { run_id, .. }
            | Self::Uncertain { run_id, .. }
            | Self::ContractChanged { run_id, .. }
            | Self::StaleResponse { run_id, .. }
            | Self::NotResumable { run_id, .. }
            | Self::RunPanicked { run_id, .. }
            | Self::RunBusy { run_id }
            | Self::ConversationOpen { run_id, .. }
            | Self::Value { run_id, .. }
            | Self::CallRefused { run_id, .. }
            | Self::NotRepeatable { run_id, .. } => Some(run_id),
            Self::Interrupted(interruption) => Some(&interruption.run_id),
            Self::Store(error) => error.run_id(),
            Self::Build(_)
            | Self::EmptyRunId
            | Self::NoStore { .. }
            | Self::UnknownTool { .. }
            | Self::BlockingInRuntime
            | Self::NoRuntime(_) => None,
        }
    }
}
