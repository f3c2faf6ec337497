//! One scenario, run in every way in which a run can go: as it is and streamed, in each store, with pauses and without,
//! and with a crash at every commit.
//!
//! ```
//! use protolink::prelude::*;
//! use protolink::testing::Reply;
//! use protolink::testing::matrix::Matrix;
//! use serde_json::json;
//!
//! /// Pay a bill.
//! #[tool]
//! fn pay(cents: u32) -> String { format!("{cents} paid") }
//!
//! #[before_complete]
//! fn sign(response: &mut FinalResponse<'_>) {
//!     let signed = format!("{} -- the clerk", response.text().unwrap_or_default());
//!     response.set_text(signed);
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let script = [Reply::call("pay", json!({ "cents": 5 })), Reply::text("Done.")];
//! let report = Matrix::new("Pay the bill.", script)
//!     .run(|model| Agent::builder("clerk").model(model).tools(tools![pay]).hooks(hooks![sign]))
//!     .await?;
//! assert_eq!(report.answer(), "Done. -- the clerk");
//! # Ok(())
//! # }
//! ```

mod case;
mod drive;
mod kept;
mod ledger;
mod process;
mod report;

use std::fmt;
use std::sync::Arc;

use self::drive::Scenario;
use super::{Reply, ScriptedModel};
use crate::builder::AgentBuilder;
use crate::durable::{MemoryStore, RunStore};

pub use self::case::{Combination, CrashPoint, MatrixPath, Moment};
pub use self::report::{HookRun, MatrixCase, MatrixError, MatrixReport};

/// A scripted scenario, and the stores in which it is run; [`run`](Self::run) runs it.
///
/// What a matrix does:
/// - The scenario runs once, as it is, in memory; what it leaves is what counts: the answer, the conversation, the
///   receipts, and what each hook did.
/// - It runs again plain and streamed, in each store, with the policy as it is and with a pause for approval of every
///   call that the policy allows.
/// - Each of these it runs with a crash before and after every commit: the run is dropped where it stands, its lease is
///   given back, and an agent that is built anew goes on. A reply of the model that was not committed is given again.
/// - Every call that waits is approved, every question is answered. An action of which nobody knows after a crash is
///   reconciled with what came of it in the first run: its result, or that it failed.
/// - A run that its store loses is begun again once, and one that does not come to an end is left after a number of
///   processes that follows from the first run; the report says so.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::Reply;
/// use protolink::testing::matrix::Matrix;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = [Reply::call("ask_user", json!({ "question": "Which size?" })), Reply::text("A small one, then.")];
/// let report = Matrix::new("Order a lamp.", script)
///     .store("a second one", MemoryStore::new())
///     .reply("small")
///     .run(|model| Agent::builder("clerk").model(model).ask_user())
///     .await?;
/// assert_eq!(report.answer(), "A small one, then.");
/// # Ok(())
/// # }
/// ```
#[must_use = "a matrix does nothing until it is run"]
pub struct Matrix {
    prompt: String,
    model: ScriptedModel,
    reply: String,
    stores: Vec<(String, Arc<dyn RunStore>)>,
}

impl Matrix {
    /// The name of the run in each store; a run of this name that is there is deleted.
    pub const RUN_ID: &'static str = "protolink-matrix";
    /// The name of the conversation that the run makes.
    pub const CONVERSATION: &'static str = "protolink-matrix";

    /// A scenario: the prompt, and what the model replies. It runs in memory.
    pub fn new(prompt: impl Into<String>, script: impl IntoIterator<Item = Reply>) -> Self {
        let stores: Vec<(String, Arc<dyn RunStore>)> = vec![("memory".to_owned(), Arc::new(MemoryStore::new()))];
        Self { prompt: prompt.into(), model: ScriptedModel::new(script), reply: "yes".to_owned(), stores }
    }

    /// Runs it in this store too, which the report calls `name`.
    pub fn store(mut self, name: impl Into<String>, store: impl RunStore) -> Self {
        self.stores.push((name.into(), Arc::new(store)));
        self
    }

    /// What the user says to every question of the model; `yes` unless said otherwise.
    pub fn reply(mut self, text: impl Into<String>) -> Self {
        self.reply = text.into();
        self
    }

    /// Runs every combination. `agent` builds the agent around the model, each time that a process would; its store is
    /// set here.
    ///
    /// # Errors
    /// [`MatrixError::Failed`] where a combination leaves something else than the plain run, fails, or runs a tool twice
    /// for one action that is not idempotent; it lists them. [`MatrixError::Plain`] where the plain run itself fails,
    /// [`MatrixError::Build`] where there is no agent.
    pub async fn run<S, A>(
        self,
        agent: impl Fn(ScriptedModel) -> AgentBuilder<S, A>,
    ) -> Result<MatrixReport, MatrixError> {
        let build = |model| agent(model).into_settings();
        let mut scenario = Scenario::new(self.prompt, self.model, self.reply, &build);
        let memory: Arc<dyn RunStore> = Arc::new(MemoryStore::new());
        let first = Combination::new(MatrixPath::Plain, "memory", false, None);
        let plain = scenario.run(first, &memory).await?;
        let answer = plain.case.result.clone().map_err(MatrixError::Plain)?;
        scenario.kept = Some(plain.kept);
        let mut report = MatrixReport::new(answer);
        for (name, store) in &self.stores {
            for path in [MatrixPath::Plain, MatrixPath::Streamed] {
                for pause in [false, true] {
                    let uninterrupted = scenario.run(Combination::new(path, name, pause, None), store).await?;
                    let commits = uninterrupted.commits;
                    report.push(uninterrupted.case);
                    for crash in (1..=commits).flat_map(CrashPoint::at) {
                        let combination = Combination::new(path, name, pause, Some(crash));
                        report.push(scenario.run(combination, store).await?.case);
                    }
                }
            }
        }
        report.into_result()
    }
}

impl fmt::Debug for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stores: Vec<&str> = self.stores.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Matrix").field("prompt", &self.prompt).field("stores", &stores).finish_non_exhaustive()
    }
}
