//! How a run ends, or pauses.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::ids::{ActionId, RunId};
use crate::model::Usage;
use crate::value::SharedValue;

/// The validated answer of a run. It reads and prints as its text.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("Paris")])).build()?;
/// let answer = agent.invoke("What is the capital of France?").await?;
/// assert_eq!(answer.text(), "Paris");
/// assert_eq!(answer.to_string(), "Paris");
/// println!(
///     "{} took {} steps and {} tokens",
///     answer.run_id(),
///     answer.steps(),
///     answer.usage().total()
/// );
/// # Ok(())
/// # }
/// ```
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
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("Paris")])).build()?;
/// match agent.run("What is the capital of France?").await? {
///     Outcome::Completed(answer) => println!("{answer}"),
///     Outcome::Interrupted(interruption) => {
///         println!("{interruption}; keep it, and ask the person")
///     }
/// }
/// # Ok(())
/// # }
/// ```
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
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// /// Give money back.
/// #[tool(capability = "money")]
/// fn refund(cents: u64) -> String {
///     format!("{cents} cents")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
/// let agent = Agent::builder("clerk")
///     .model(model)
///     .tools(tools![refund])
///     .policy(CapabilityPolicy::new().require_approval("money"))
///     .durable(MemoryStore::new())
///     .build()?;
/// let Outcome::Interrupted(waits_for) = agent.run("Refund it.").await? else { return Ok(()) };
/// assert_eq!(waits_for.tool(), Some("refund"));
/// assert_eq!(waits_for.arguments(), Some(&serde_json::json!({ "cents": 900 })));
///
/// // It is data: keep it, show it, and hand it back with the person's word.
/// let kept = serde_json::to_string(&waits_for)?;
/// let waits_for: Interruption = serde_json::from_str(&kept)?;
/// agent.resume(&waits_for.run_id).approve(&waits_for).await?;
/// # Ok(())
/// # }
/// ```
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
///
/// ```
/// use protolink::InterruptionRequest;
/// use protolink::prelude::*;
///
/// fn in_words(interruption: &Interruption) -> String {
///     match &interruption.request {
///         InterruptionRequest::Approval { tool, arguments, .. } => {
///             format!("May `{tool}` run with {arguments}?")
///         }
///         InterruptionRequest::Question { question } => question.clone(),
///         _ => interruption.to_string(),
///     }
/// }
/// ```
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
