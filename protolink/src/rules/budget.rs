//! How much a run may spend (contract P2).

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits of one run, each checked before the operation that would pass it.
///
/// A limit that is not set does not hold, except for the steps: a run makes 32 at most, unless it is told otherwise.
///
/// ```
/// use protolink::prelude::*;
/// use std::time::Duration;
///
/// let budget = Budget::new()
///     .max_steps(8)
///     .max_model_calls(12)
///     .max_tool_calls(20)
///     .max_input_tokens(50_000)
///     .max_tokens(60_000)
///     .max_wall_time(Duration::from_secs(60));
/// # let _ = Agent::builder("a").budget(budget);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub(crate) steps: u32,
    pub(crate) model_calls: Option<u32>,
    pub(crate) tool_calls: Option<u32>,
    pub(crate) tokens: Option<u64>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) wall_time: Option<Duration>,
}

impl Budget {
    /// The steps of a run that was given no limit.
    pub const DEFAULT_STEPS: u32 = 32;

    /// A budget of [`DEFAULT_STEPS`](Self::DEFAULT_STEPS) steps and no other limit.
    #[must_use]
    pub fn new() -> Self {
        Self {
            steps: Self::DEFAULT_STEPS,
            model_calls: None,
            tool_calls: None,
            tokens: None,
            input_tokens: None,
            wall_time: None,
        }
    }

    /// At most this many steps; a step is counted when it starts, before its hooks.
    #[must_use]
    pub fn max_steps(mut self, steps: u32) -> Self {
        self.steps = steps;
        self
    }

    /// At most this many requests to the model, repeated attempts among them.
    #[must_use]
    pub fn max_model_calls(mut self, calls: u32) -> Self {
        self.model_calls = Some(calls);
        self
    }

    /// At most this many tool calls.
    #[must_use]
    pub fn max_tool_calls(mut self, calls: u32) -> Self {
        self.tool_calls = Some(calls);
        self
    }

    /// At most this many tokens, requests and replies together: what was used, and an estimate of what is to be sent.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// At most this many tokens of requests: what was used, and an estimate of what is to be sent.
    #[must_use]
    pub fn max_input_tokens(mut self, tokens: u64) -> Self {
        self.input_tokens = Some(tokens);
        self
    }

    /// At most this long, less the time that the run is paused.
    #[must_use]
    pub fn max_wall_time(mut self, time: Duration) -> Self {
        self.wall_time = Some(time);
        self
    }

    pub(crate) fn counts_tokens(&self) -> bool {
        self.tokens.is_some() || self.input_tokens.is_some()
    }

    pub(crate) fn check_step(&self, spent: &Spent) -> Result<(), BudgetLimit> {
        if spent.steps >= self.steps {
            return Err(BudgetLimit::Steps(self.steps));
        }
        // What is known to be over already is said before hooks spend work on a request that cannot be sent.
        self.check_calls(spent)?;
        // No request is smaller than one token.
        self.check_tokens(spent, 1)?;
        self.check_time(spent)
    }

    fn check_calls(&self, spent: &Spent) -> Result<(), BudgetLimit> {
        match self.model_calls {
            Some(limit) if spent.model_calls >= limit => Err(BudgetLimit::ModelCalls(limit)),
            _ => Ok(()),
        }
    }

    pub(crate) fn check_time(&self, spent: &Spent) -> Result<(), BudgetLimit> {
        match self.wall_time {
            Some(limit) if spent.wall_time >= limit => Err(BudgetLimit::WallTime(limit)),
            _ => Ok(()),
        }
    }

    /// `estimate` is the size of the request as it will be sent, in tokens.
    pub(crate) fn check_model_call(&self, spent: &Spent, estimate: u64) -> Result<(), BudgetLimit> {
        self.check_calls(spent)?;
        self.check_tokens(spent, estimate)?;
        self.check_time(spent)
    }

    fn check_tokens(&self, spent: &Spent, estimate: u64) -> Result<(), BudgetLimit> {
        if let Some(limit) = self.input_tokens
            && spent.input_tokens.saturating_add(estimate) > limit
        {
            return Err(BudgetLimit::InputTokens(limit));
        }
        if let Some(limit) = self.tokens
            && spent.input_tokens.saturating_add(spent.output_tokens).saturating_add(estimate) > limit
        {
            return Err(BudgetLimit::Tokens(limit));
        }
        Ok(())
    }

    pub(crate) fn check_tool_calls(&self, spent: &Spent, calls: u32) -> Result<(), BudgetLimit> {
        if let Some(limit) = self.tool_calls
            && spent.tool_calls.saturating_add(calls) > limit
        {
            return Err(BudgetLimit::ToolCalls(limit));
        }
        self.check_time(spent)
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new()
    }
}

/// What a run spent so far; it goes on over a resume (contract D10).
///
/// ```
/// use protolink::durable::Record;
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::text("done").usage(120, 30)]);
/// let agent = Agent::builder("a").model(model).durable(MemoryStore::new()).build()?;
/// agent.run("Go.").run_id("r-1").await?;
/// let journal = agent.journal("r-1").await?;
/// let Some(Record::Completed { spent, .. }) = journal.last() else { panic!("it answered") };
/// assert_eq!((spent.steps, spent.input_tokens, spent.output_tokens), (1, 120, 30));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spent {
    /// Steps that were started.
    pub steps: u32,
    /// Requests to the model.
    pub model_calls: u32,
    /// Tool calls that were started.
    pub tool_calls: u32,
    /// Tokens of requests, as the provider counted them, or estimated where it does not say.
    pub input_tokens: u64,
    /// Tokens of replies.
    pub output_tokens: u64,
    /// Time spent running.
    pub wall_time: Duration,
}

/// The limit that the next operation would have passed.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::rules::BudgetLimit;
/// use protolink::testing::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("a").model(ScriptedModel::new([])).build()?;
/// let refused = agent.run("Go.").budget(Budget::new().max_steps(0)).await;
/// assert!(matches!(refused, Err(Error::Budget { limit: BudgetLimit::Steps(0), .. })));
/// assert_eq!(BudgetLimit::Steps(8).to_string(), "8 steps");
/// assert_eq!(BudgetLimit::ToolCalls(1).to_string(), "1 tool call");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BudgetLimit {
    /// Steps.
    Steps(u32),
    /// Requests to the model.
    ModelCalls(u32),
    /// Tool calls.
    ToolCalls(u32),
    /// Tokens of requests and replies.
    Tokens(u64),
    /// Tokens of requests.
    InputTokens(u64),
    /// Time.
    WallTime(Duration),
}

impl fmt::Display for BudgetLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (limit, one) = match *self {
            Self::Steps(limit) => (limit.into(), "step"),
            Self::ModelCalls(limit) => (limit.into(), "model call"),
            Self::ToolCalls(limit) => (limit.into(), "tool call"),
            Self::Tokens(limit) => (limit, "token"),
            Self::InputTokens(limit) => (limit, "input token"),
            Self::WallTime(limit) => return write!(f, "{limit:?} of time"),
        };
        write!(f, "{limit} {one}{}", if limit == 1 { "" } else { "s" })
    }
}
