//! How a run ends, or pauses.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::ids::{ActionId, RunId};
use crate::model::Usage;
use crate::value::SharedValue;

/// The validated answer of a run. It reads and prints as its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    run_id: RunId,
    content: SharedValue,
    /// What structured content looks like as text.
    text: Option<String>,
    usage: Usage,
    steps: u32,
}

impl Answer {
    pub(crate) fn new(run_id: RunId, content: SharedValue, usage: Usage, steps: u32) -> Self {
        let text = if content.is_string() { None } else { Some(content.to_string()) };
        Self { run_id, content, text, usage, steps }
    }

    /// The answer as text; the JSON of a structured one.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.as_deref().or_else(|| self.content.as_str()).unwrap_or_default()
    }

    /// The answer as JSON: a string for a plain one.
    #[must_use]
    pub fn content(&self) -> &Value {
        &self.content
    }

    pub(crate) fn shared_content(&self) -> &SharedValue {
        &self.content
    }

    /// The run that gave it.
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// The tokens that the run used.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The steps that the run made.
    #[must_use]
    pub fn steps(&self) -> u32 {
        self.steps
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// What became of a run that did not fail.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "an interrupted run waits for an answer"]
pub enum Outcome {
    /// It gave its answer.
    Completed(Answer),
    /// It waits for a person, and can be resumed in another process (contract D4).
    Interrupted(Interruption),
}

impl Outcome {
    /// The answer, where there is one.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Completed(answer) => Some(answer),
            Self::Interrupted(_) => None,
        }
    }

    /// What the run waits for, where it waits.
    #[must_use]
    pub fn interruption(&self) -> Option<&Interruption> {
        match self {
            Self::Completed(_) => None,
            Self::Interrupted(interruption) => Some(interruption),
        }
    }
}

/// What a paused run waits for. A response to it is bound to its id and to its digest, so that it covers this call
/// and these arguments only (contract D4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Interruption {
    /// The run.
    pub run_id: RunId,
    /// Names this request for a response.
    pub id: String,
    /// The action that waits.
    pub action_id: ActionId,
    /// The digest of tool and arguments.
    pub digest: Digest,
    /// What is asked.
    pub request: InterruptionRequest,
}

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InterruptionRequest {
    /// May this call run?
    Approval {
        /// The tool.
        tool: String,
        /// The arguments, exactly.
        arguments: Value,
        /// What the tool can do.
        capabilities: Vec<String>,
    },
    /// The model's question to the user.
    Question {
        /// The question.
        question: String,
    },
}

impl Interruption {
    /// The tool that waits for approval; `None` for a question.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        match &self.request {
            InterruptionRequest::Approval { tool, .. } => Some(tool),
            InterruptionRequest::Question { .. } => None,
        }
    }

    /// The arguments of the call that waits for approval.
    #[must_use]
    pub fn arguments(&self) -> Option<&Value> {
        match &self.request {
            InterruptionRequest::Approval { arguments, .. } => Some(arguments),
            InterruptionRequest::Question { .. } => None,
        }
    }

    /// The question to the user; `None` for an approval.
    #[must_use]
    pub fn question(&self) -> Option<&str> {
        match &self.request {
            InterruptionRequest::Approval { .. } => None,
            InterruptionRequest::Question { question } => Some(question),
        }
    }
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.request {
            InterruptionRequest::Approval { tool, .. } => {
                write!(f, "run `{}` waits for approval of a call of `{tool}`", self.run_id)
            }
            InterruptionRequest::Question { .. } => write!(f, "run `{}` waits for an answer", self.run_id),
        }
    }
}
