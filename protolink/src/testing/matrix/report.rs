//! What became of each combination.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::case::Combination;
use crate::durable::StoreError;
use crate::error::BuildError;
use crate::hook::Stage;

/// A hook that ran, as the events told it.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::Reply;
/// use protolink::testing::matrix::Matrix;
///
/// #[before_model]
/// fn be_brief(request: &mut ModelRequest<'_>) {
///     request.history().append_system("Be brief.");
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = [Reply::text("Done.")];
/// let report = Matrix::new("Go.", script)
///     .run(|model| Agent::builder("clerk").model(model).hooks(hooks![be_brief]))
///     .await?;
/// let hook = &report.cases()[0].hooks[0];
/// assert_eq!((hook.hook.as_str(), hook.step, hook.changes), ("be_brief", 1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookRun {
    /// The stage.
    pub stage: Stage,
    /// The hook's name.
    pub hook: String,
    /// The step, counted from 1.
    pub step: u32,
    /// How many changes it made.
    pub changes: usize,
}

/// What became of one combination.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::Reply;
/// use protolink::testing::matrix::Matrix;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = [Reply::text("Done.")];
/// let report =
///     Matrix::new("Go.", script).run(|model| Agent::builder("clerk").model(model)).await?;
/// for case in report.cases() {
///     assert_eq!(case.result, Ok("Done.".into()));
///     assert!(case.twice.is_empty() && case.differences.is_empty());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MatrixCase {
    /// How the scenario was run.
    pub combination: Combination,
    /// The answer, or what the error says.
    pub result: Result<Value, String>,
    /// How often each tool was started. A crash may come before a tool starts, or right after, before it does anything;
    /// such an action is reconciled and not started again.
    pub executions: BTreeMap<String, usize>,
    /// The hooks that ran, in order, over all processes.
    pub hooks: Vec<HookRun>,
    /// Tools that were started twice for one action, and are not idempotent.
    pub twice: Vec<String>,
    /// In what the conversation, the receipts and the kept hook runs differ from those of the plain run, in words.
    pub differences: Vec<String>,
}

impl MatrixCase {
    /// What is wrong with it, in words; `None` where nothing is.
    fn fault(&self, answer: &Value) -> Option<String> {
        let wrong = match &self.result {
            Err(error) => Some(format!("it failed: {error}")),
            Ok(other) if other != answer => Some(format!("the answer is {other}")),
            Ok(_) => None,
        };
        let twice = self.twice.iter().map(|tool| format!("`{tool}` ran twice for one action"));
        let faults: Vec<String> = wrong.into_iter().chain(twice).chain(self.differences.iter().cloned()).collect();
        (!faults.is_empty()).then(|| faults.join("; "))
    }
}

/// What became of a scenario in every combination; `{}` shows a line for each.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::Reply;
/// use protolink::testing::matrix::Matrix;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = [Reply::text("Done.")];
/// let report =
///     Matrix::new("Go.", script).run(|model| Agent::builder("clerk").model(model)).await?;
/// println!("{report}");
/// assert_eq!(report.answer(), "Done.");
/// assert!(report.cases().len() > 4);
/// assert_eq!(report.failures().count(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixReport {
    answer: Value,
    cases: Vec<MatrixCase>,
}

impl MatrixReport {
    pub(super) fn new(answer: Value) -> Self {
        Self { answer, cases: Vec::new() }
    }

    pub(super) fn push(&mut self, case: MatrixCase) {
        self.cases.push(case);
    }

    pub(super) fn into_result(self) -> Result<Self, MatrixError> {
        if self.failures().next().is_none() { Ok(self) } else { Err(MatrixError::Failed(Box::new(self))) }
    }

    /// The answer of the plain run.
    #[must_use]
    pub fn answer(&self) -> &Value {
        &self.answer
    }

    /// Every combination, in the order in which they were run.
    #[must_use]
    pub fn cases(&self) -> &[MatrixCase] {
        &self.cases
    }

    /// The combinations that went otherwise than the plain run, and what is wrong with each.
    pub fn failures(&self) -> impl Iterator<Item = (&MatrixCase, String)> {
        self.cases.iter().filter_map(|case| case.fault(&self.answer).map(|fault| (case, fault)))
    }
}

impl fmt::Display for MatrixReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the plain run answers {}", self.answer)?;
        for case in &self.cases {
            let fault = case.fault(&self.answer);
            write!(f, "\n- {}: {}", case.combination, fault.as_deref().unwrap_or("the same"))?;
            for (tool, times) in &case.executions {
                write!(f, ", `{tool}` x {times}")?;
            }
            write!(f, ", {} hook runs", case.hooks.len())?;
        }
        Ok(())
    }
}

/// Why a matrix did not pass.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::Reply;
/// use protolink::testing::matrix::{Matrix, MatrixError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let matrix = Matrix::new("Go.", [Reply::permanent("status 401")]);
/// let verdict = matrix.run(|model| Agent::builder("clerk").model(model)).await;
/// assert!(matches!(verdict, Err(MatrixError::Plain(_))), "there is no answer to compare with");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// The agent cannot be built.
    #[error("the agent cannot be built")]
    Build(#[from] BuildError),
    /// The plain, uninterrupted run fails: there is no answer to compare with.
    #[error("the plain run fails: {0}")]
    Plain(String),
    /// A store fails by itself.
    #[error("a store fails")]
    Store(#[from] StoreError),
    /// Some combinations went otherwise than the plain run.
    #[error("{}", failed(.0))]
    Failed(Box<MatrixReport>),
}

fn failed(report: &MatrixReport) -> String {
    let failures: Vec<String> =
        report.failures().map(|(case, fault)| format!("\n- {}: {fault}", case.combination)).collect();
    let (some, all) = (failures.len(), report.cases.len());
    format!(
        "{some} of {all} combinations do not do what the plain run does, which answers {}:{}",
        report.answer,
        failures.concat()
    )
}
