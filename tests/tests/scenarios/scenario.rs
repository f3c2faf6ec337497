//! One scenario: what is done, and what is expected of it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::command::Command;
use crate::not_here::NotHere;
use crate::setup::{Setup, Written};

/// A scenario as it is written in a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) id: String,
    #[serde(default, rename = "title")]
    _title: String,
    pub(crate) setup: Map<String, Value>,
    pub(crate) run: Vec<Value>,
    pub(crate) expect: Expectation,
}

/// What is expected of a scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectation {
    pub(crate) commands: Vec<Expected>,
    pub(crate) totals: Totals,
}

/// What is expected of one command.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) result: ExpectedResult,
    #[serde(default)]
    pub(crate) hooks: Vec<String>,
    #[serde(default)]
    pub(crate) rosters: Vec<Vec<String>>,
    /// How much of the record a clause of the contract leaves standing.
    #[serde(skip)]
    pub(crate) standing: Standing,
}

/// How much of what was recorded of a command is expected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Standing {
    /// All of it.
    #[default]
    All,
    /// It happened as recorded, and then something more.
    Beginning,
    /// It happened as recorded, up to an earlier end.
    UpToAnEnd,
    /// Neither hooks nor rosters are as recorded.
    Nothing,
}

/// What is expected of a command's own result.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct ExpectedResult {
    pub(crate) task_state: Option<String>,
    pub(crate) outputs: Option<Vec<Value>>,
    pub(crate) error: Option<ExpectedError>,
    pub(crate) interruption: Option<Value>,
    pub(crate) fingerprint: Option<String>,
    /// What the recorded implementation shows in its own form.
    #[serde(flatten)]
    pub(crate) others: BTreeMap<String, Value>,
}

/// The error that is expected.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ExpectedError {
    #[serde(rename = "type")]
    pub(crate) class: String,
    #[serde(default)]
    pub(crate) message: String,
    /// The kind of error here, where a clause names it.
    #[serde(skip)]
    pub(crate) kind: Option<&'static str>,
}

/// What is expected over all commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Totals {
    #[serde(default)]
    pub(crate) tool_executions: BTreeMap<String, usize>,
    #[serde(default)]
    pub(crate) hook_calls: BTreeMap<String, usize>,
    #[serde(default)]
    pub(crate) model_calls: usize,
}

impl Expectation {
    /// Counts hooks and requests anew, after the expectation of a command was changed.
    pub(crate) fn count(&mut self) {
        self.totals.hook_calls.clear();
        for hook in self.commands.iter().flat_map(|command| &command.hooks) {
            *self.totals.hook_calls.entry(hook_total(hook)).or_default() += 1;
        }
        self.totals.model_calls = self.commands.iter().map(|command| command.rosters.len()).sum();
    }
}

/// `before_model:A@1` is counted as `A.before_model`.
fn hook_total(hook: &str) -> String {
    let call = hook.rsplit_once('@').map_or(hook, |(call, _)| call);
    let (stage, id) = call.split_once(':').unwrap_or((call, ""));
    format!("{id}.{stage}")
}

impl Scenario {
    pub(crate) fn written(&self) -> Written {
        Written(self.setup.clone())
    }

    /// The commands, once all that they need was read.
    pub(crate) fn commands(&self) -> Result<Vec<Command>, NotHere> {
        Setup::read(&self.written())?;
        let mut written = self.written();
        let mut commands = Vec::new();
        for command in &self.run {
            let command = Command::read(command)?;
            command.check(&written)?;
            if let Command::Rebuild { changes } = &command {
                written = written.with(changes);
            }
            commands.push(command);
        }
        Ok(commands)
    }
}
