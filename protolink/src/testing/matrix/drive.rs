//! Runs a scenario in one combination, through as many processes as it takes.

use std::error::Error as StdError;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::Matrix;
use super::case::{Combination, MatrixPath};
use super::kept::Kept;
use super::ledger::Ledger;
use super::process::Process;
use super::report::{MatrixCase, MatrixError};
use crate::agent::Agent;
use crate::durable::{RunStore, StoreError};
use crate::error::Error;
use crate::event::RunEvent;
use crate::ids::RunId;
use crate::outcome::{Interruption, InterruptionRequest, Outcome};
use crate::receipt::ReceiptOutcome;
use crate::rules::{Decision, Policy, PolicyRequest};
use crate::run::RunStream;
use crate::settings::Settings;
use crate::testing::ScriptedModel;
use crate::testing::model::Position;
use crate::tool::ToolError;

/// How often the first run may stop and be taken up again before it counts as one that never ends.
const MOST_PROCESSES: usize = 100;

/// A process that dies gives its lease back, so that nobody waits for this; and no process is so slow as to lose it.
const LEASE: Duration = Duration::from_hours(1);

type Build<'b> = &'b dyn Fn(ScriptedModel) -> Settings;

pub(super) struct Scenario<'b> {
    prompt: String,
    model: ScriptedModel,
    reply: String,
    build: Build<'b>,
    /// What the first run left.
    pub(super) kept: Option<Kept>,
}

/// What became of one combination.
pub(super) struct Done {
    pub(super) case: MatrixCase,
    pub(super) commits: u64,
    pub(super) kept: Kept,
}

/// How one process ended that did not die.
enum End {
    Answered(Value),
    Waits(Interruption),
    Reconciled,
    Failed(String),
}

impl<'b> Scenario<'b> {
    pub(super) fn new(prompt: String, model: ScriptedModel, reply: String, build: Build<'b>) -> Self {
        Self { prompt, model, reply, build, kept: None }
    }

    pub(super) async fn run(&self, combination: Combination, store: &Arc<dyn RunStore>) -> Result<Done, MatrixError> {
        let run_id = RunId::from(Matrix::RUN_ID);
        store.delete(&run_id).await?;
        self.model.rewind(Position::default());
        let ledger = Ledger::new(self.model.clone());
        let (mut may_repeat, mut differences) = (Vec::new(), Vec::new());
        let (mut crash, mut waits, mut result) = (combination.crash, None, None);
        for _ in 0..self.most_processes() {
            let process = Process::new(Arc::clone(store), ledger.clone(), crash);
            let begun = match store.load(&run_id).await {
                Ok(_) => true,
                Err(StoreError::NotFound { .. }) => false,
                Err(error) => return Err(error.into()),
            };
            if !begun && ledger.begin() {
                if !differences.is_empty() {
                    result = Some(Err("the store lost the run again".to_owned()));
                    break;
                }
                // Whether a tool ran twice for one action shows when it is begun again.
                differences.push("the store lost the run, which was begun again".to_owned());
                waits = None;
            }
            let agent = self.agent(&ledger, &process, combination.pause, &mut may_repeat)?;
            match process.live(self.process(&agent, combination.path, begun, waits.take())).await? {
                // It dies once.
                None => crash = None,
                Some(End::Answered(answer)) => result = Some(Ok(answer)),
                Some(End::Failed(error)) => result = Some(Err(error)),
                Some(End::Waits(interruption)) => waits = Some(interruption),
                Some(End::Reconciled) => {}
            }
            if result.is_some() {
                break;
            }
        }
        let (kept, unread) = match Kept::read(store).await {
            Ok(kept) => (kept, None),
            Err(error) => (Kept::default(), Some(format!("what it left cannot be read: {}", in_words(&error)))),
        };
        store.delete(&run_id).await?;
        differences.extend(unread);
        if let (Some(first), Some(Ok(_))) = (&self.kept, &result) {
            differences.extend(kept.differences(first));
        }
        let result =
            result.unwrap_or_else(|| Err(format!("{} processes did not bring it to an end", self.most_processes())));
        let (executions, twice) = ledger.executions(&may_repeat);
        let entries = ledger.entries();
        let case = MatrixCase { combination, result, executions, hooks: entries.hooks.clone(), twice, differences };
        Ok(Done { case, commits: entries.commits, kept })
    }

    /// How often a run may be taken up: for each action of the first run an approval, an answer and a reconciliation,
    /// twice where a store loses the run; and what a crash and the end take.
    fn most_processes(&self) -> usize {
        self.kept.as_ref().map_or(MOST_PROCESSES, |first| 4 + 6 * first.actions())
    }

    fn agent(
        &self,
        ledger: &Ledger,
        process: &Process,
        pause: bool,
        may_repeat: &mut Vec<String>,
    ) -> Result<Agent, MatrixError> {
        let mut settings = (self.build)(ledger.model());
        settings.observers.push(Arc::new(ledger.clone()));
        settings.store = Some(Arc::new(process.clone()));
        settings.lease = LEASE;
        if pause {
            // Who would be asked while the run waits would keep it from pausing.
            settings.approver = None;
            settings.policy = Arc::new(AsksFirst(settings.policy));
        }
        let idempotent = settings.tools.iter().filter(|tool| tool.spec.is_idempotent());
        *may_repeat = idempotent.map(|tool| tool.spec.name().to_owned()).collect();
        Ok(Agent::new(settings.finish()?))
    }

    /// What one process does: it begins the run, or takes it up again.
    async fn process(&self, agent: &Agent, path: MatrixPath, begun: bool, waits: Option<Interruption>) -> End {
        let run_id = RunId::from(Matrix::RUN_ID);
        let ended = if begun {
            let resume = match &waits {
                None => agent.resume(run_id),
                Some(asked) => match asked.request {
                    InterruptionRequest::Approval { .. } => agent.resume(run_id).approve(asked),
                    InterruptionRequest::Question { .. } => agent.resume(run_id).answer(asked, &self.reply),
                },
            };
            match path {
                MatrixPath::Plain => resume.await,
                MatrixPath::Streamed => drain(resume.stream()).await,
            }
        } else {
            let run = agent.run(self.prompt.as_str()).run_id(run_id).session(Some(Matrix::CONVERSATION.to_owned()));
            match path {
                MatrixPath::Plain => run.await,
                MatrixPath::Streamed => drain(run.stream()).await,
            }
        };
        match ended {
            Ok(Outcome::Completed(answer)) => End::Answered(answer.content().clone()),
            Ok(Outcome::Interrupted(interruption)) => End::Waits(interruption),
            Err(error) => self.reconcile(agent, error).await,
        }
    }

    /// Says of an action of which nobody knows what came of it in the first run.
    async fn reconcile(&self, agent: &Agent, error: Error) -> End {
        let Error::Uncertain { run_id, action_id, .. } = &error else { return End::Failed(in_words(&error)) };
        let (run_id, action_id) = (run_id.clone(), action_id.clone());
        let said = match self.kept.as_ref().and_then(|first| first.outcome(&action_id)) {
            Some(ReceiptOutcome::Returned(result) | ReceiptOutcome::Reconciled(result)) => {
                agent.reconcile(run_id, action_id, result.clone()).await
            }
            Some(ReceiptOutcome::Failed(text)) => {
                agent.reconcile_failed(run_id, action_id, ToolError::failed(text.clone())).await
            }
            Some(ReceiptOutcome::Rejected(reason)) => {
                agent.reconcile_failed(run_id, action_id, ToolError::rejected(reason.clone())).await
            }
            _ => return End::Failed(in_words(&error)),
        };
        match said {
            Ok(()) => End::Reconciled,
            Err(error) => End::Failed(in_words(&error)),
        }
    }
}

/// An error with what it came from.
fn in_words(error: &Error) -> String {
    let mut words = error.to_string();
    let mut source = StdError::source(error);
    while let Some(error) = source {
        let _ = write!(words, ": {error}");
        source = error.source();
    }
    words
}

async fn drain(mut stream: RunStream<'_>) -> Result<Outcome, Error> {
    let mut outcome = None;
    while let Some(event) = stream.next().await {
        match event? {
            RunEvent::Completed(answer) => outcome = Some(Outcome::Completed(answer)),
            RunEvent::Interrupted(interruption) => outcome = Some(Outcome::Interrupted(*interruption)),
            _ => {}
        }
    }
    outcome.ok_or_else(|| Error::Cancelled { run_id: RunId::from(Matrix::RUN_ID), step: 0 })
}

/// Asks a person about every call that another policy allows.
struct AsksFirst(Arc<dyn Policy>);

impl Policy for AsksFirst {
    fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
        match self.0.decide(request) {
            Decision::Allow => Decision::RequireApproval,
            other => other,
        }
    }
}
