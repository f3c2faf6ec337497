//! A resume before it starts.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

use super::check::{check_response, same_conversation, superseded};
use super::fold::{End, Stood, fold};
use super::history::{before, stood};
use super::settle::store_of;
use crate::durable::journal::Journal;
use crate::durable::{RunStore, StoreError};
use crate::error::Error;
use crate::event::RunEvent;
use crate::fingerprint::ContractChange;
use crate::history::{History, HistoryDraft};
use crate::hook::BoxFuture;
use crate::ids::RunId;
use crate::outcome::{Answer, Interruption, Outcome};
use crate::rules::Budget;
use crate::run::close::Home;
use crate::run::place::HistoryPlace;
use crate::run::start::Start;
use crate::run::stream::RunStream;
use crate::settings::{AgentInner, AnswerSpec};

/// What a person said to what a run waits for.
#[derive(Debug, Clone)]
pub(super) enum Response {
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

    /// Says no: to the call that waits, or to answering the question. The model is told, and the run goes on.
    pub fn reject(self, interruption: &Interruption) -> Self {
        let reason = match interruption.question() {
            Some(_) => "the user declined to answer",
            None => "it was not approved",
        };
        self.reject_because(interruption, reason)
    }

    /// Says no as [`reject`](Self::reject) does, with a reason that the model is told.
    pub fn reject_because(self, interruption: &Interruption, reason: impl Into<String>) -> Self {
        self.respond(interruption, Response::Reject(reason.into()))
    }

    /// Answers the question that the model asked; whoever does not want to says so by [`reject`](Self::reject).
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
    pub fn answer_as<T: DeserializeOwned + JsonSchema>(mut self) -> Self {
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
        // Saying yes again is harmless; a word that would have ended the run otherwise comes too late (contract D4).
        if let Some((_, Response::Reject(_) | Response::Answer(_))) = &self.response {
            return Err(Error::StaleResponse { run_id: self.run_id, reason: "it waits for nothing" });
        }
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
            if self.answer.is_some() {
                let run_id = self.run_id.clone();
                return Err(Error::NotResumable { run_id, reason: "it was not started for an answer of a type" });
            }
            return Ok(None);
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
