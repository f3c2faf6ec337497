//! How a run begins.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::close::Home;
use super::events::Events;
use super::judge::fit_arguments;
use super::place::HistoryPlace;
use super::state::{PendingTurn, Phase, Run, Stopwatch};
use crate::durable::NewRun;
use crate::durable::journal::{CallRecord, CallState, Journal, Record, Started, Task};
use crate::error::Error;
use crate::event::RunEvent;
use crate::history::{History, HistoryDraft};
use crate::hook::StepDraft;
use crate::ids::{ActionId, RunId};
use crate::message::{Content, Message, ToolCall, ToolOutcome};
use crate::outcome::Outcome;
use crate::roster::{Roster, RosterDraft};
use crate::rules::{Budget, Spent};
use crate::run_context::RunContext;
use crate::settings::{AgentInner, AnswerSpec};

/// What a run is started with.
pub(super) struct Start {
    pub(super) context: RunContext,
    pub(super) budget: Option<Budget>,
    pub(super) answer: Option<AnswerSpec>,
    pub(super) cancel: CancellationToken,
    pub(super) hold_output: bool,
    pub(super) listener: Option<UnboundedSender<RunEvent>>,
}

impl Start {
    pub(super) fn new(context: RunContext) -> Self {
        Self {
            context,
            budget: None,
            answer: None,
            cancel: CancellationToken::new(),
            hold_output: false,
            listener: None,
        }
    }

    /// A run that stands at its beginning.
    pub(super) fn run(self, agent: &Arc<AgentInner>, history: History) -> Run {
        Run {
            context: Arc::new(self.context),
            draft: StepDraft {
                history: HistoryDraft::new(history),
                roster: RosterDraft::new(Roster::new(Arc::clone(&agent.specs))),
            },
            phase: Phase::Prepare,
            pending: None,
            step: 0,
            budget: self.budget.unwrap_or_else(|| agent.settings.budget.clone()),
            spent: Spent::default(),
            time: Stopwatch::after(std::time::Duration::ZERO),
            corrections: 0,
            revisions: Vec::new(),
            revisions_made: 0,
            answer: self.answer.or_else(|| agent.settings.answer.clone()),
            receipts: Vec::new(),
            delta: Vec::new(),
            step_delta: Vec::new(),
            hook_log: Vec::new(),
            journal: None,
            events: Events::new(Arc::clone(agent), self.listener),
            cancel: self.cancel,
            hold_output: self.hold_output,
            shown: false,
            agent: Arc::clone(agent),
        }
    }
}

/// Runs a prompt, on a conversation's history or on none.
pub(super) async fn run_prompt(
    agent: Arc<AgentInner>,
    start: Start,
    prompt: Content,
    place: Option<&mut HistoryPlace>,
) -> Result<Outcome, Error> {
    let (mut history, mut continues) = (History::default(), None);
    let mut place = place;
    if let Some(place) = &mut place {
        place.ready(&agent).await?;
        history = std::mem::take(&mut place.history);
        continues = place.continues();
    }
    let run = start.run(&agent, history);
    // From here on the history finds home, whatever happens.
    let mut home = Home::new(run, place, continues.clone());
    let run = &mut home.run;
    // The prompt is a part of the conversation once the run has begun.
    run.delta = run.draft.history.say(Message::User(prompt));
    run.draft.history.begin_turn(&run.delta);
    if let Err(error) = run.begin_journal(Task::Answer, continues).await {
        return home.end(Err(error)).await;
    }
    run.events.emit(|| RunEvent::Started { run_id: run.context.run_id.clone(), resumed: false });
    home.run_to_the_end().await
}

/// Calls one tool outside of the loop: a run of its own, without hooks (contract S8).
pub(crate) async fn call_tool(agent: Arc<AgentInner>, name: &str, arguments: Value) -> Result<Outcome, Error> {
    let Some(tool) = agent.tool(name) else {
        return Err(Error::UnknownTool { agent: agent.settings.name.clone(), tool: name.to_owned() });
    };
    let context = RunContext::new(RunId::new(), agent.settings.name.clone());
    let mut run = Start::new(context).run(&agent, History::default());
    let mut call = ToolCall::new("call_0", name, arguments);
    let state = match fit_arguments(tool, &mut call.arguments) {
        Err(reason) => CallState::Refused(ToolOutcome::Rejected(reason)),
        Ok(()) => run.ask_policy(tool, &call.arguments),
    };
    let record = CallRecord { action_id: ActionId::of(run.id(), 0, 0), call, state };
    run.begin_journal(
        Task::CallTool {
            tool: name.to_owned(),
            arguments: record.call.arguments.clone(),
            call: Box::new(record.clone()),
        },
        None,
    )
    .await?;
    run.events.emit(|| RunEvent::Started { run_id: run.context.run_id.clone(), resumed: false });
    run.phase = Phase::Calls(PendingTurn::direct(record));
    Home::new(run, None, None).run_to_the_end().await
}

impl Run {
    /// Commits the start of the run, where there is a store.
    async fn begin_journal(&mut self, task: Task, continues: Option<RunId>) -> Result<(), Error> {
        if let Some(store) = &self.agent.settings.store {
            let record = Record::Started(Box::new(Started {
                contract: self.agent.contract.clone(),
                context: (*self.context).clone(),
                continues,
                task,
                delta: self.delta.clone(),
                budget: self.budget.clone(),
                answer_schema: self.answer.as_ref().map(|answer| Arc::clone(&answer.schema)),
            }));
            let mut new = NewRun::new(self.id().clone(), self.agent.settings.name.clone());
            new.conversation.clone_from(&self.context.session);
            new.labels = self.context.labels.clone();
            let lease = self.agent.settings.lease;
            self.journal = Some(Journal::create(Arc::clone(store), new, &record, lease).await?);
        }
        self.delta.clear();
        self.draft.history.commit();
        Ok(())
    }
}
