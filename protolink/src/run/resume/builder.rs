//! A resume before it starts, and the other ways to act on a stored run.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::fold::{At, End, Stood, fold};
use super::history::before;
use crate::durable::RunStore;
use crate::durable::journal::{CallState, Journal, Record, Resumed};
use crate::error::Error;
use crate::event::RunEvent;
use crate::fingerprint::ContractChange;
use crate::hook::BoxFuture;
use crate::ids::{ActionId, RunId};
use crate::message::ToolOutcome;
use crate::model::Usage;
use crate::outcome::{Answer, Interruption, InterruptionRequest, Outcome};
use crate::receipt::{Receipt, ReceiptOutcome};
use crate::roster::{Roster, RosterDraft};
use crate::rules::Budget;
use crate::run::close::{HistoryPlace, Home};
use crate::run::start::Start;
use crate::run::state::{Phase, Run, Stopwatch};
use crate::run::stream::RunStream;
use crate::settings::AgentInner;

/// What a person said to what a run waits for.
#[derive(Debug, Clone)]
enum Response {
    Approve,
    Reject(String),
    Answer(String),
}

/// A run of a store, to be taken up again.
///
/// Without a response, a run that waits for a person goes on waiting (contract D11).
#[must_use = "a resume does nothing until it is awaited or streamed"]
pub struct ResumeBuilder<'c> {
    agent: Arc<AgentInner>,
    run_id: RunId,
    response: Option<(Interruption, Response)>,
    accepted: Vec<ContractChange>,
    budget: Option<Budget>,
    cancel: CancellationToken,
    hold_output: bool,
    place: Option<&'c mut HistoryPlace>,
}

impl<'c> ResumeBuilder<'c> {
    pub(crate) fn new(agent: Arc<AgentInner>, run_id: RunId, place: Option<&'c mut HistoryPlace>) -> Self {
        Self {
            agent,
            run_id,
            response: None,
            accepted: Vec::new(),
            budget: None,
            cancel: CancellationToken::new(),
            hold_output: false,
            place,
        }
    }

    fn respond(mut self, interruption: &Interruption, response: Response) -> Self {
        self.response = Some((interruption.clone(), response));
        self
    }

    /// Says yes to the call that waits: this one, with these arguments (contract D4).
    pub fn approve(self, interruption: &Interruption) -> Self {
        self.respond(interruption, Response::Approve)
    }

    /// Says no to the call that waits. The model is told, and the run goes on.
    pub fn reject(self, interruption: &Interruption) -> Self {
        self.reject_because(interruption, "it was not approved")
    }

    /// Says no to the call that waits, with a reason that the model is told.
    pub fn reject_because(self, interruption: &Interruption, reason: impl Into<String>) -> Self {
        self.respond(interruption, Response::Reject(reason.into()))
    }

    /// Answers the question that the model asked.
    pub fn answer(self, interruption: &Interruption, text: impl Into<String>) -> Self {
        self.respond(interruption, Response::Answer(text.into()))
    }

    /// Accepts these changes of the agent, and has that recorded (contract D9). They must be all that changed.
    pub fn accept(mut self, changes: impl IntoIterator<Item = ContractChange>) -> Self {
        self.accepted.extend(changes);
        self
    }

    /// New limits; what was spent before still counts (contract D10).
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Lets this token cancel the run.
    pub fn cancel(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Holds text back until the check has passed.
    pub fn hold_output(mut self, hold: bool) -> Self {
        self.hold_output = hold;
        self
    }

    /// Goes on while the stream is read, and shows what happens.
    pub fn stream(self) -> RunStream<'c> {
        let (sender, events) = unbounded_channel();
        RunStream::new(events, Box::pin(self.go(Some(sender))))
    }

    async fn go(self, listener: Option<tokio::sync::mpsc::UnboundedSender<RunEvent>>) -> Result<Outcome, Error> {
        let Self { agent, run_id, response, accepted, budget, cancel, hold_output, place } = self;
        let store = store_of(&agent)?;
        let lease = agent.settings.lease;
        let (journal, records) = Journal::acquire(Arc::clone(&store), &run_id, lease).await?;
        let stood = fold(&run_id, records)?;
        match &stood.end {
            Some(End::Completed(content)) => {
                let usage = Usage::new(stood.spent.input_tokens, stood.spent.output_tokens);
                let answer = Answer::new(run_id, content.clone(), usage, stood.step);
                if let Some(listener) = listener {
                    let _ = listener.send(RunEvent::Completed(answer.clone()));
                }
                return Ok(Outcome::Completed(answer));
            }
            Some(End::Cancelled { .. }) => {
                return Err(Error::NotResumable { run_id, reason: "it was cancelled" });
            }
            Some(End::Failed { .. }) | None => {}
        }
        superseded(&store, &stood).await?;
        let changes = stood.contract.diff(&agent.contract);
        if let Some(change) = changes.iter().find(|change| !accepted.contains(change)) {
            tracing::debug!(%run_id, %change, "the agent is not the one that the run was started with");
            return Err(Error::ContractChanged { run_id, changes });
        }
        check_response(&stood, response.as_ref())?;
        let idempotent = |tool: &str| agent.tool(tool).is_some_and(|tool| tool.spec.is_idempotent());
        if let Some(record) = stood.uncertain(idempotent) {
            let (action_id, tool) = (record.action_id.clone(), record.call.name.clone());
            return Err(Error::Uncertain { run_id, action_id, tool });
        }
        let still_waiting = stood.pending.clone().filter(|_| response.is_none());
        let mut history = before(&store, stood.continues.clone()).await?;
        stood.replay(&mut history)?;
        history.begin_turn(&stood.delta);
        let mut start = Start::new(stood.context.clone());
        start.budget = Some(budget.clone().unwrap_or_else(|| stood.budget.clone()));
        (start.cancel, start.hold_output, start.listener) = (cancel, hold_output, listener);
        let mut run = start.run(&agent, crate::history::History::default());
        run.draft.history = history;
        let lost_request = stood.may_have_lost_a_request();
        run.stand_at(stood, journal);
        let mut home = Home::new(run, place);
        let run = &mut home.run;
        if still_waiting.is_none() || !changes.is_empty() || budget.is_some() {
            run.take_up(changes, budget, lost_request).await?;
        }
        run.events.emit(|| RunEvent::Started { run_id: run_id.clone(), resumed: true });
        if let Some((interruption, response)) = response {
            run.respond(&interruption, response).await?;
        }
        home.run_to_the_end().await
    }
}

impl<'c> IntoFuture for ResumeBuilder<'c> {
    type Output = Result<Outcome, Error>;
    type IntoFuture = BoxFuture<'c, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.go(None))
    }
}

impl fmt::Debug for ResumeBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumeBuilder").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}

impl Run {
    /// Puts the run where the journal says it stands.
    fn stand_at(&mut self, stood: Stood, journal: Journal) {
        if let Some(roster) = &stood.roster {
            // M10: the pending action runs under the roster that it was made under.
            self.draft.roster = RosterDraft::new(Roster::restricted(&self.agent.specs, roster));
        }
        if stood.sent_otherwise {
            self.draft.history.lose_sent();
        }
        self.step = stood.step;
        self.time = Stopwatch::after(stood.spent.wall_time);
        self.spent = stood.spent;
        self.corrections = stood.corrections;
        self.revisions = stood.revisions;
        self.revisions_made = stood.revisions_made;
        self.receipts = stood.receipts;
        self.pending = stood.pending;
        self.journal = Some(journal);
        self.phase = match stood.at {
            At::Prepare => Phase::Prepare,
            At::Answer(answer) => Phase::Answer(answer),
            At::Calls(turn) => Phase::Calls(turn),
        };
    }

    /// Commits that the run goes on. A model request that may have been lost counts as spent.
    async fn take_up(
        &mut self,
        accepted: Vec<ContractChange>,
        budget: Option<Budget>,
        lost_request: bool,
    ) -> Result<(), Error> {
        if lost_request {
            self.spent.model_calls = self.spent.model_calls.saturating_add(1);
        }
        let contract = (!accepted.is_empty()).then(|| self.agent.contract.clone());
        self.commit(|run| {
            Record::Resumed(Box::new(Resumed { accepted, contract, budget, spent: run.spent_now().clone() }))
        })
        .await
    }

    async fn respond(&mut self, interruption: &Interruption, response: Response) -> Result<(), Error> {
        let Phase::Calls(turn) = &self.phase else { return Ok(()) };
        let Some(index) = turn.calls.iter().position(|call| call.action_id == interruption.action_id) else {
            return Ok(());
        };
        let record = turn.calls[index].clone();
        match response {
            Response::Approve => self.decided(index, CallState::Allowed, None).await,
            Response::Reject(reason) => {
                self.decided(index, CallState::Refused(ToolOutcome::Denied(reason)), None).await
            }
            Response::Answer(text) => {
                let receipt = Receipt {
                    action_id: record.action_id,
                    call_id: record.call.id,
                    tool: record.call.name,
                    arguments: record.call.arguments,
                    step: self.step,
                    outcome: ReceiptOutcome::Returned(Value::String(text).into()),
                };
                self.receipts.push(Arc::new(receipt.clone()));
                self.decided(index, CallState::Done(Arc::new(receipt)), None).await
            }
        }
    }
}

/// Refuses a run whose conversation has gone on without it.
async fn superseded(store: &Arc<dyn RunStore>, stood: &Stood) -> Result<(), Error> {
    let Some(conversation) = &stood.context.session else { return Ok(()) };
    let filter = crate::durable::RunFilter::new().conversation(conversation.as_str());
    let newest = store.list(&filter, crate::durable::Page::newest(1)).await?;
    match newest.runs.first() {
        Some(newest) if newest.run_id != stood.context.run_id => {
            let run_id = stood.context.run_id.clone();
            Err(Error::NotResumable { run_id, reason: "its conversation has gone on without it" })
        }
        _ => Ok(()),
    }
}

/// Refuses a response that is not for what the run waits for (contract D4).
fn check_response(stood: &Stood, response: Option<&(Interruption, Response)>) -> Result<(), Error> {
    let Some((given, response)) = response else { return Ok(()) };
    let stale = |reason| Err(Error::StaleResponse { run_id: stood.context.run_id.clone(), reason });
    let Some(pending) = &stood.pending else { return stale("it waits for nothing") };
    if given.run_id != pending.run_id {
        return stale("the response is for another run");
    }
    if given.id != pending.id || given.action_id != pending.action_id {
        return stale("the response is for an earlier request");
    }
    // The digest of what is stored now, not of what the interruption says of itself.
    let stored = match &stood.at {
        At::Calls(turn) => turn.calls.iter().find(|call| call.action_id == pending.action_id),
        _ => None,
    };
    let stored = stored.map(|record| crate::run::judge::call_digest(&record.call.name, &record.call.arguments));
    if stored != Some(given.digest) || pending.digest != given.digest {
        return stale("the tool or its arguments are not the ones that were asked about");
    }
    let question = matches!(pending.request, InterruptionRequest::Question { .. });
    match response {
        Response::Answer(_) if !question => stale("it waits for an approval, not for an answer"),
        Response::Approve | Response::Reject(_) if question => stale("it waits for an answer, not for an approval"),
        _ => Ok(()),
    }
}

pub(crate) fn store_of(agent: &AgentInner) -> Result<Arc<dyn RunStore>, Error> {
    let store = agent.settings.store.as_ref().map(Arc::clone);
    store.ok_or_else(|| Error::NoStore { agent: agent.settings.name.clone() })
}

/// What the run waits for, if it waits.
pub(crate) async fn interruption(agent: &AgentInner, run_id: &RunId) -> Result<Option<Interruption>, Error> {
    let stood = super::history::stood(&store_of(agent)?, run_id).await?;
    Ok(if stood.end.is_none() { stood.pending } else { None })
}

/// Says what came of an action of which nobody knows (contract D3, T7).
pub(crate) async fn reconcile(
    agent: &AgentInner,
    run_id: &RunId,
    action_id: &ActionId,
    result: Value,
) -> Result<(), Error> {
    let (mut journal, records) = Journal::acquire(store_of(agent)?, run_id, agent.settings.lease).await?;
    let stood = fold(run_id, records)?;
    let Some(record) = stood.reconcilable(action_id) else {
        journal.release().await;
        return Err(Error::NotResumable { run_id: run_id.clone(), reason: "the action is not an uncertain one" });
    };
    let receipt = Receipt {
        action_id: action_id.clone(),
        call_id: record.call.id.clone(),
        tool: record.call.name.clone(),
        arguments: record.call.arguments.clone(),
        step: stood.step,
        outcome: ReceiptOutcome::Reconciled(result.into()),
    };
    let record = Record::Receipted { receipt, spent: stood.spent.clone() };
    let committed = journal.append(&record).await;
    journal.release().await;
    Ok(committed?)
}

/// Ends a run that waits, failed or crashed, and closes its conversation.
pub(crate) async fn cancel_run(agent: &Arc<AgentInner>, run_id: &RunId) -> Result<(), Error> {
    let store = store_of(agent)?;
    let (journal, records) = Journal::acquire(Arc::clone(&store), run_id, agent.settings.lease).await?;
    let mut stood = fold(run_id, records)?;
    if matches!(stood.end, Some(End::Completed(_) | End::Cancelled { .. })) {
        return Ok(());
    }
    if let At::Calls(turn) = &mut stood.at {
        // What was intended may have happened.
        turn.started.fill(true);
    }
    let mut history = before(&store, stood.continues.clone()).await?;
    stood.replay(&mut history)?;
    let mut run = Start::new(stood.context.clone()).run(agent, crate::history::History::default());
    run.draft.history = history;
    run.stand_at(stood, journal);
    run.cancel_stored().await
}
