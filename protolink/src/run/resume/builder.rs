//! A resume before it starts, and the other ways to act on a stored run.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;

use schemars::JsonSchema;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::fold::{At, End, Stood, fold};
use super::history::{before, stood};
use crate::durable::journal::{CallState, Journal, Record, Resumed};
use crate::durable::{RunState, RunStore, StoreError};
use crate::error::Error;
use crate::event::RunEvent;
use crate::fingerprint::ContractChange;
use crate::history::{History, HistoryDraft};
use crate::hook::{AnswerType, BoxFuture};
use crate::ids::{ActionId, RunId};
use crate::message::ToolOutcome;
use crate::outcome::{Answer, Interruption, InterruptionRequest, Outcome};
use crate::receipt::{Receipt, ReceiptOutcome};
use crate::roster::{Roster, RosterDraft};
use crate::rules::Budget;
use crate::run::close::Home;
use crate::run::place::{Dropped, HistoryPlace};
use crate::run::start::Start;
use crate::run::state::{Phase, Run, Stopwatch};
use crate::run::stream::RunStream;
use crate::settings::{AgentInner, AnswerSpec};

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
    answer: Option<AnswerSpec>,
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
            answer: None,
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

    /// Says of which type the answer is, for a run that was started by [`invoke_as`](crate::Agent::invoke_as). Without
    /// it the answer's content is JSON that nobody checked against the type.
    pub fn answer_as<T: AnswerType + JsonSchema>(mut self) -> Self {
        self.answer = Some(AnswerSpec::of::<T>());
        self
    }

    /// Goes on while the stream is read, and shows what happens.
    pub fn stream(self) -> RunStream<'c> {
        let (sender, events) = unbounded_channel();
        RunStream::new(events, Box::pin(self.go(Some(sender))))
    }

    async fn go(self, listener: Option<UnboundedSender<RunEvent>>) -> Result<Outcome, Error> {
        let store = store_of(&self.agent)?;
        let (mut journal, records) = match Journal::acquire(Arc::clone(&store), &self.run_id, self.lease()).await {
            Ok(acquired) => acquired,
            Err(busy @ StoreError::Busy { .. }) => {
                // A worker that died after the last commit holds nothing that anybody waits for.
                let stood = stood(&store, &self.run_id).await?;
                let Some(answer) = stood.answer() else { return Err(busy.into()) };
                return self.completed(&store, stood.context.session.clone(), answer, listener).await;
            }
            Err(error) => return Err(error.into()),
        };
        let looked = match fold(&self.run_id, records) {
            Ok(stood) => match stood.answer() {
                Some(answer) => {
                    journal.release().await;
                    return self.completed(&store, stood.context.session.clone(), answer, listener).await;
                }
                None => self.look(&store, stood).await,
            },
            Err(error) => Err(error.into()),
        };
        match looked {
            Ok(ready) => self.take_up(ready, journal, listener).await,
            Err(error) => {
                // Whoever mends it need not wait for a lease to run out.
                journal.release().await;
                Err(error)
            }
        }
    }

    fn lease(&self) -> std::time::Duration {
        self.agent.settings.lease
    }

    /// Gives the answer that the run gave (contract F3).
    async fn completed(
        self,
        store: &Arc<dyn RunStore>,
        session: Option<String>,
        answer: Answer,
        listener: Option<UnboundedSender<RunEvent>>,
    ) -> Result<Outcome, Error> {
        if let (Some(place), Some(session)) = (self.place, session) {
            same_conversation(&self.run_id, place, Some(&session))?;
            place.reload(store, session).await?;
        }
        if let Some(listener) = listener {
            // Whoever stopped reading has stopped watching.
            let _ = listener.send(RunEvent::Completed(answer.clone()));
        }
        Ok(Outcome::Completed(answer))
    }

    /// Says whether the run can go on, before anything is committed.
    async fn look(&self, store: &Arc<dyn RunStore>, stood: Stood) -> Result<Ready, Error> {
        let (agent, run_id) = (&self.agent, self.run_id.clone());
        if let Some(End::Cancelled { .. }) = &stood.end {
            return Err(Error::NotResumable { run_id, reason: "it was cancelled" });
        }
        if let Some(place) = &self.place {
            same_conversation(&run_id, place, stood.context.session.as_deref())?;
        }
        superseded(store, &stood).await?;
        let changes = stood.contract.diff(&agent.contract);
        if let Some(change) = changes.iter().find(|change| !self.accepted.contains(change)) {
            tracing::debug!(%run_id, %change, "the agent is not the one that the run was started with");
            return Err(Error::ContractChanged { run_id, changes });
        }
        let answer = self.answer_of(&stood)?;
        check_response(&stood, self.response.as_ref())?;
        let idempotent = |tool: &str| agent.tool(tool).is_some_and(|tool| tool.spec.is_idempotent());
        if let Some(record) = stood.uncertain(idempotent) {
            let (action_id, tool) = (record.action_id.clone(), record.call.name.clone());
            return Err(Error::Uncertain { run_id, action_id, tool });
        }
        let mut history = before(store, stood.continues.clone()).await?;
        stood.replay(&mut history)?;
        history.begin_turn(&stood.delta);
        Ok(Ready { stood, history, changes, answer })
    }

    /// The type of the answer: the one that the run was started for.
    fn answer_of(&self, stood: &Stood) -> Result<Option<AnswerSpec>, Error> {
        let Some(schema) = &stood.answer_schema else {
            return match &self.answer {
                None => Ok(None),
                Some(_) => {
                    let run_id = self.run_id.clone();
                    Err(Error::NotResumable { run_id, reason: "it was not started for an answer of a type" })
                }
            };
        };
        if let Some(answer) = &self.answer {
            if answer.schema == *schema {
                return Ok(Some(answer.clone()));
            }
            let run_id = self.run_id.clone();
            return Err(Error::NotResumable { run_id, reason: "it was started for an answer of another type" });
        }
        let own = self.agent.settings.answer.as_ref().filter(|answer| answer.schema == *schema);
        // Without the type at hand, the answer is JSON.
        Ok(Some(own.cloned().unwrap_or_else(|| AnswerSpec::untyped(Arc::clone(schema)))))
    }

    /// Goes on from where the run stands.
    async fn take_up(
        self,
        ready: Ready,
        journal: Journal,
        listener: Option<UnboundedSender<RunEvent>>,
    ) -> Result<Outcome, Error> {
        let Self { agent, run_id, response, budget, cancel, hold_output, place, .. } = self;
        let Ready { stood, history, changes, answer } = ready;
        let waits_on = stood.pending.is_some() && response.is_none();
        let mut start = Start::new(stood.context.clone());
        start.budget = Some(budget.clone().unwrap_or_else(|| stood.budget.clone()));
        start.answer = answer;
        (start.cancel, start.hold_output, start.listener) = (cancel, hold_output, listener);
        let mut run = start.run(&agent, History::default());
        run.draft.history = history;
        let may_send_back = agent.settings.max_revisions.is_some() || run.answer.is_some();
        let lost_request = stood.may_have_lost_a_request(may_send_back);
        let continues = stood.continues.clone();
        run.stand_at(stood, journal);
        let mut home = Home::new(run, place, continues);
        let run = &mut home.run;
        let begun = async {
            if !waits_on || !changes.is_empty() || budget.is_some() {
                run.take_on(changes, budget, lost_request).await?;
            }
            run.events.emit(|| RunEvent::Started { run_id, resumed: true });
            if !waits_on {
                run.ask_the_policy_again().await?;
            }
            match response {
                Some((interruption, response)) => run.respond(&interruption, response).await,
                None => Ok(()),
            }
        };
        match begun.await {
            Ok(()) => home.run_to_the_end().await,
            Err(error) => home.end(Err(error)).await,
        }
    }
}

/// A run that can go on.
struct Ready {
    stood: Stood,
    history: HistoryDraft,
    /// What changed in the agent, all of it accepted.
    changes: Vec<ContractChange>,
    answer: Option<AnswerSpec>,
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
    /// Puts the run where the journal says it stands, and lets it write on.
    fn stand_at(&mut self, stood: Stood, journal: Journal) {
        self.stand(stood);
        self.journal = Some(journal);
    }

    /// Puts the run where the journal says it stands.
    fn stand(&mut self, stood: Stood) {
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
        self.phase = match stood.at {
            At::Prepare => Phase::Prepare,
            At::Answer(answer) => Phase::Answer(answer),
            At::Calls(mut turn) => {
                // What was intended before may have been started before: nothing may say that it was not.
                for (started, call) in turn.started.iter_mut().zip(&turn.calls) {
                    *started = call.state == CallState::Intended;
                }
                Phase::Calls(turn)
            }
        };
    }

    /// Commits that the run goes on. A model request that may have been lost counts as spent, and so does a call that is
    /// made again.
    async fn take_on(
        &mut self,
        accepted: Vec<ContractChange>,
        budget: Option<Budget>,
        lost_request: bool,
    ) -> Result<(), Error> {
        if lost_request {
            self.spent.model_calls = self.spent.model_calls.saturating_add(1);
        }
        let again = match &self.phase {
            Phase::Calls(turn) => turn.calls.iter().filter(|call| call.state == CallState::Intended).count(),
            _ => 0,
        };
        if again > 0 {
            let again = u32::try_from(again).unwrap_or(u32::MAX);
            self.budget.check_tool_calls(&self.spent, again).map_err(|limit| self.over_budget(limit))?;
            self.spent.tool_calls = self.spent.tool_calls.saturating_add(again);
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
        if !record.state.waits() {
            // The policy has denied it since.
            return Ok(());
        }
        match response {
            Response::Approve => {
                let state = self.approved(&record.call.name);
                self.decided(index, state, None).await
            }
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

/// Refuses a run of another conversation.
fn same_conversation(run_id: &RunId, place: &HistoryPlace, session: Option<&str>) -> Result<(), Error> {
    if place.name.as_deref() == session {
        return Ok(());
    }
    Err(Error::NotResumable { run_id: run_id.clone(), reason: "it belongs to another conversation" })
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
    let committed = match reconciled(run_id, records, action_id, result) {
        Ok((record, state)) => journal.append_as(&record, state).await.map_err(Error::from),
        Err(error) => Err(error),
    };
    journal.release().await;
    committed
}

/// The receipt of a reconciled action, and the state in which it leaves the run: the one that the run was in.
fn reconciled(
    run_id: &RunId,
    records: Vec<Record>,
    action_id: &ActionId,
    result: Value,
) -> Result<(Record, RunState), Error> {
    let stood = fold(run_id, records)?;
    let refused = |reason| Error::NotResumable { run_id: run_id.clone(), reason };
    let state = match &stood.end {
        None => RunState::Running,
        Some(End::Failed { .. }) => RunState::Failed,
        Some(End::Completed(_)) => return Err(refused("it has its answer")),
        Some(End::Cancelled { .. }) => return Err(refused("it was cancelled")),
    };
    let record = stood.reconcilable(action_id).ok_or_else(|| refused("the action is not an uncertain one"))?;
    let receipt = Receipt {
        action_id: action_id.clone(),
        call_id: record.call.id.clone(),
        tool: record.call.name.clone(),
        arguments: record.call.arguments.clone(),
        step: stood.step,
        outcome: ReceiptOutcome::Reconciled(result.into()),
    };
    Ok((Record::Receipted { receipt, spent: stood.spent.clone() }, state))
}

/// Ends a run that waits, failed or crashed, and closes its conversation.
pub(crate) async fn cancel_run(agent: &Arc<AgentInner>, run_id: &RunId) -> Result<(), Error> {
    let store = store_of(agent)?;
    let (mut journal, records) = Journal::acquire(Arc::clone(&store), run_id, agent.settings.lease).await?;
    let cancelled = match fold(run_id, records) {
        Ok(stood) => cancel_stood(agent, &store, stood, &mut journal).await,
        Err(error) => Err(error.into()),
    };
    journal.release().await;
    cancelled
}

/// Ends a run that was dropped half-way in this process, if it is the conversation's and does not wait for a person.
pub(crate) async fn cancel_dropped(
    agent: &Arc<AgentInner>,
    dropped: &Dropped,
    conversation: Option<&str>,
) -> Result<(), Error> {
    let store = store_of(agent)?;
    let acquired = Journal::acquire(Arc::clone(&store), &dropped.run_id, agent.settings.lease).await;
    let (mut journal, records) = match acquired {
        // It was dropped before its first commit.
        Err(StoreError::NotFound { .. }) => return Ok(()),
        acquired => acquired?,
    };
    let cancelled = match fold(&dropped.run_id, records) {
        Ok(stood) => {
            let same = stood.context.session.as_deref() == conversation && stood.continues == dropped.continues;
            if same && stood.end.is_none() && stood.pending.is_none() {
                cancel_stood(agent, &store, stood, &mut journal).await
            } else {
                Ok(())
            }
        }
        Err(error) => Err(error.into()),
    };
    journal.release().await;
    cancelled
}

/// Commits the end of a run, and how its conversation is closed.
async fn cancel_stood(
    agent: &Arc<AgentInner>,
    store: &Arc<dyn RunStore>,
    mut stood: Stood,
    journal: &mut Journal,
) -> Result<(), Error> {
    let spent = stood.spent.clone();
    let closing = match stood.end.take() {
        Some(End::Completed(_) | End::Cancelled { .. }) => return Ok(()),
        // The conversation may have gone on from this closing.
        Some(End::Failed { closing }) => closing,
        None => {
            let mut history = before(store, stood.continues.clone()).await?;
            stood.replay(&mut history)?;
            let mut run = Start::new(stood.context.clone()).run(agent, History::default());
            run.draft.history = history;
            run.stand(stood);
            run.close_changes()
        }
    };
    Ok(journal.append(&Record::Cancelled { closing, spent }).await?)
}
