//! An agent's configuration as data: settings, and the identity of its hooks, never callbacks (contract P4).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::builder::AgentBuilder;
use crate::error::BuildError;
use crate::fingerprint::{ContractChange, ContractFingerprint, PartKind};
use crate::hook::HookIdentity;
use crate::model::ModelId;
use crate::rules::{Budget, ContextPolicy, Retry};
use crate::settings::Settings;
use crate::tool::ToolSpec;

/// What an agent was built of, for keeping and for restoring it.
///
/// It names the hooks and tools, and cannot hold them: a restored agent is given them again, and `build()` says which
/// are missing or differ.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::ScriptedModel;
/// use protolink::{AgentConfig, BuildError};
///
/// #[before_complete]
/// fn no_shouting(response: &mut FinalResponse<'_>) {
///     let quiet = response.text().map(str::to_lowercase);
///     if let Some(quiet) = quiet {
///         response.set_text(quiet);
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent =
///     Agent::builder("a").model(ScriptedModel::new([])).hooks(hooks![no_shouting]).build()?;
/// let saved = serde_json::to_string(&agent.config())?;
///
/// let config: AgentConfig = serde_json::from_str(&saved)?;
/// let forgotten = config.builder().model(ScriptedModel::new([])).build();
/// assert!(matches!(forgotten, Err(BuildError::HooksMissing { .. })));
/// let restored =
///     config.builder().model(ScriptedModel::new([])).hooks(hooks![no_shouting]).build()?;
/// assert_eq!(restored.fingerprint(), agent.fingerprint());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentConfig {
    /// The agent's name.
    pub name: String,
    /// Its instructions.
    pub instructions: String,
    /// Its model.
    pub model: ModelId,
    /// Its tools.
    pub tools: Vec<ToolSpec>,
    /// Its hooks, stage by stage, in the order in which they run.
    pub hooks: Vec<HookIdentity>,
    /// The limits of its runs.
    pub budget: Budget,
    /// How much of a history its requests hold.
    pub context_policy: Option<ContextPolicy>,
    /// Its execution version.
    pub execution_version: String,
    /// How many refused calls a run takes.
    pub max_tool_corrections: u32,
    /// How often an answer may go back to the model, where that was said.
    pub max_revisions: Option<u32>,
    /// How often a request is sent again.
    pub retry: Retry,
    /// How long one tool call may take.
    pub tool_timeout: Option<Duration>,
    /// How many calls of one turn run at the same time.
    pub max_parallel_tools: usize,
    /// How long a worker owns a durable run without a sign of life.
    pub lease: Duration,
    /// Whether events carry contents.
    pub capture_content: bool,
    /// Whether every hook runs twice and must do the same both times.
    pub strict: bool,
    /// What all of this amounts to.
    pub contract: ContractFingerprint,
}

impl AgentConfig {
    pub(crate) fn of(settings: &Settings, model: &ModelId, contract: &ContractFingerprint) -> Self {
        Self {
            name: settings.name.clone(),
            instructions: settings.instructions.clone(),
            model: model.clone(),
            tools: settings.tools.iter().map(|tool| (*tool.spec).clone()).collect(),
            hooks: settings.hooks.identities().cloned().collect(),
            budget: settings.budget.clone(),
            context_policy: settings.context_policy.clone(),
            execution_version: settings.execution_version.clone(),
            max_tool_corrections: settings.max_tool_corrections,
            max_revisions: settings.max_revisions,
            retry: settings.retry,
            tool_timeout: settings.tool_timeout,
            max_parallel_tools: settings.max_parallel_tools,
            lease: settings.lease,
            capture_content: settings.capture_content,
            strict: settings.strict,
            contract: contract.clone(),
        }
    }

    /// A builder with these settings, which wants the same hooks and tools again. A built-in tool is there by the
    /// setting that brings it.
    #[must_use]
    pub fn builder(&self) -> AgentBuilder {
        let mut settings = Settings::new(self.name.clone());
        settings.instructions.clone_from(&self.instructions);
        settings.budget = self.budget.clone();
        settings.context_policy.clone_from(&self.context_policy);
        settings.execution_version.clone_from(&self.execution_version);
        settings.max_tool_corrections = self.max_tool_corrections;
        settings.max_revisions = self.max_revisions;
        settings.retry = self.retry;
        settings.tool_timeout = self.tool_timeout;
        settings.max_parallel_tools = self.max_parallel_tools.max(1);
        settings.lease = self.lease;
        settings.capture_content = self.capture_content;
        settings.strict = self.strict;
        settings.expected = Some(self.clone());
        AgentBuilder::restoring(settings)
    }

    /// Checks that the agent has the hooks and tools that were recorded.
    pub(crate) fn check(&self, agent: &str, current: &ContractFingerprint) -> Result<(), BuildError> {
        let changes: Vec<ContractChange> =
            self.contract.diff(current).into_iter().filter(|change| change.kind() != Some(PartKind::Setting)).collect();
        let missing: Vec<String> = changes
            .iter()
            .filter_map(|change| match change {
                ContractChange::Removed { kind, name } if *kind != PartKind::Tool => {
                    Some(format!("the {kind} `{name}`"))
                }
                _ => None,
            })
            .collect();
        if !missing.is_empty() {
            return Err(BuildError::HooksMissing { agent: agent.to_owned(), missing });
        }
        if changes.is_empty() { Ok(()) } else { Err(BuildError::ConfigDiffers { agent: agent.to_owned(), changes }) }
    }
}
