//! How a resume goes on: what was done is looked at, then the run is taken up where it stands.

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedSender;

use super::builder::{Response, ResumeBuilder};
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
use crate::outcome::{Answer, Outcome};
use crate::run::close::Home;
use crate::run::start::Start;
use crate::settings::AnswerSpec;

impl ResumeBuilder<'_> {
    pub(super) async fn go(self, listener: Option<UnboundedSender<RunEvent>>) -> Result<Outcome, Error> {
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
