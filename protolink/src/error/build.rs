//! Why an agent cannot be built.

use std::time::Duration;

use super::in_words;
use crate::fingerprint::ContractChange;
use crate::hook::Stage;

/// Why an agent cannot be built.
///
/// ```
/// use protolink::BuildError;
/// use protolink::prelude::*;
/// use protolink::testing::ScriptedModel;
///
/// /// Search the catalogue.
/// #[tool]
/// fn search(query: String) -> String {
///     query
/// }
///
/// let twice =
///     Agent::builder("a").model(ScriptedModel::new([])).tools(tools![search, search]).build();
/// let error = twice.err().ok_or("it is refused")?;
/// assert_eq!(error.to_string(), "the agent `a` has two tools of the name `search`");
/// assert!(matches!(error, BuildError::DuplicateTool { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// It has no model.
    #[error("the agent `{agent}` has no model; set one with `.model(..)`")]
    NoModel {
        /// The agent.
        agent: String,
    },
    /// Two tools have one name (contract P5).
    #[error("the agent `{agent}` has two tools of the name `{tool}`")]
    DuplicateTool {
        /// The agent.
        agent: String,
        /// The name.
        tool: String,
    },
    /// A tool has a name that providers refuse.
    #[error("`{tool}` is no name for a tool: providers take 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`")]
    ToolName {
        /// The name.
        tool: String,
    },
    /// A tool's arguments are not described by a JSON Schema of an object.
    #[error("the schema of the tool `{tool}` is not that of an object: it needs `\"type\": \"object\"`")]
    ToolSchema {
        /// The tool.
        tool: String,
    },
    /// One annotated hook is registered twice (contract S10).
    #[error("the {stage} hook `{hook}` is registered twice")]
    DuplicateHook {
        /// The stage.
        stage: Stage,
        /// The hook's path.
        hook: String,
    },
    /// An `after_tool` hook is for a tool that the agent lacks (contract T4).
    #[error("the hook `{hook}` is for the tool `{tool}`, which the agent `{agent}` does not have")]
    HookForMissingTool {
        /// The agent.
        agent: String,
        /// The hook.
        hook: String,
        /// The tool.
        tool: String,
    },
    /// The tool `ask_user` waits for a person, and without a store the run cannot wait.
    #[error("the agent `{agent}` has the tool `ask_user` and no store to wait in; set one with `.durable(..)`")]
    AskUserWithoutStore {
        /// The agent.
        agent: String,
    },
    /// A deadline of zero leaves no time for anything.
    #[error("the {setting} is {value:?}, which leaves no time for anything")]
    NoTime {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: Duration,
    },
    /// Hooks that a saved configuration names were not given again (contract P4).
    #[error("the configuration of `{agent}` was saved with hooks that were not given again: {}", missing.join(", "))]
    HooksMissing {
        /// The agent.
        agent: String,
        /// The hooks that are missing, as stage and path.
        missing: Vec<String>,
    },
    /// What was given differs from what a saved configuration names (contract P4).
    #[error("the agent `{agent}` differs from its saved configuration: {}", in_words(changes))]
    ConfigDiffers {
        /// The agent.
        agent: String,
        /// What differs.
        changes: Vec<ContractChange>,
    },
}
