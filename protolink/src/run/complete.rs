//! From a proposed answer to one that is out: checked, committed, announced (contract F1 to F8).

use serde_json::Value;

use super::state::{PendingAnswer, Phase, Run};
use crate::durable::journal::{CallState, Record, Revision};
use crate::error::Error;
use crate::event::RunEvent;
use crate::hook::ResponseDraft;
use crate::message::{Message, Turn};
use crate::outcome::Answer;
use crate::receipt::ReceiptOutcome;
use crate::value::{SharedValue, ValueError, check_depth};

/// How often an answer that does not fit its type goes back, where nothing was said.
const REVISIONS_OF_STRUCTURED_ANSWERS: u32 = 2;

impl Run {
    /// Checks the proposed answer; gives it where it may leave, and nothing where it goes back to the model.
    pub(super) async fn complete(&mut self) -> Result<Option<Answer>, Error> {
        let Phase::Answer(answer) = &self.phase else { return Ok(None) };
        let text = answer.text.clone();
        let content = match self.parse_answer(&text) {
            Ok(content) => content,
            Err(error) => return self.send_back_unfit(text, error).map(|()| None),
        };
        let mut draft = ResponseDraft::new(content.into());
        if let Some((hook, feedback)) = self.run_before_complete(&mut draft).await? {
            return self.send_back_for(&hook, text, feedback).map(|()| None);
        }
        // S7: until the answer is committed, a cancellation wins.
        self.check_cancelled()?;
        let content = draft.into_content();
        // A hook may have made something of it that is not the type which was asked for.
        if let Err(source) = self.check_answer(&content) {
            return Err(Error::Answer { run_id: self.id().clone(), step: self.step, source });
        }
        self.finish(content).await.map(Some)
    }

    /// Commits the answer, then announces it (contract F3).
    async fn finish(&mut self, content: SharedValue) -> Result<Answer, Error> {
        let answer = Answer::new(self.id().clone(), content, self.usage(), self.step);
        let mut turn = Turn::new(Some(answer.text().to_owned()), Vec::new());
        if let Phase::Answer(PendingAnswer { text, provider }) = &mut self.phase {
            // What a provider signed belongs to the text that it signed.
            turn.provider = if *text == answer.text() { provider.take() } else { None };
        }
        // The conversation keeps the answer once it is committed, and not before.
        let kept = self.delta.len();
        let gained = self.draft.history.say(Message::Assistant(turn));
        self.delta.extend(gained);
        if let Err(error) = self.commit_end(&answer).await {
            self.delta.truncate(kept);
            return Err(error);
        }
        Ok(answer)
    }

    /// Ends a direct call with its result (contract S8).
    pub(super) async fn complete_direct(&mut self) -> Result<Answer, Error> {
        let Phase::Calls(turn) = &self.phase else { return Err(self.cancelled()) };
        let Some(record) = turn.calls.first() else { return Err(self.cancelled()) };
        let refused = |reason: &str| Error::CallRefused {
            run_id: self.id().clone(),
            tool: record.call.name.clone(),
            reason: reason.to_owned(),
        };
        let content = match &record.state {
            CallState::Done(receipt) => match &receipt.outcome {
                ReceiptOutcome::Returned(value) | ReceiptOutcome::Reconciled(value) => value.clone(),
                ReceiptOutcome::Failed(text) | ReceiptOutcome::Rejected(text) => return Err(refused(text)),
                ReceiptOutcome::Unkept(_) | ReceiptOutcome::Cancelled => {
                    let (action_id, tool) = (record.action_id.clone(), record.call.name.clone());
                    return Err(Error::Uncertain { run_id: self.id().clone(), action_id, tool });
                }
            },
            CallState::Refused(outcome) => return Err(refused(&outcome.to_model_text())),
            _ => return Err(self.cancelled()),
        };
        let answer = Answer::new(self.id().clone(), content, self.usage(), self.step);
        self.commit_end(&answer).await?;
        Ok(answer)
    }

    async fn commit_end(&mut self, answer: &Answer) -> Result<(), Error> {
        let content = answer.shared_content().clone();
        self.revisions.clear();
        self.commit(|run| Record::Completed {
            content,
            delta: run.delta.clone(),
            hooks: run.hook_log.clone(),
            spent: run.spent_now().clone(),
        })
        .await?;
        self.phase = Phase::Ended(answer.clone());
        if self.hold_output {
            self.events.show(self.step, answer.text());
        }
        self.events.emit(|| RunEvent::Completed(answer.clone()));
        Ok(())
    }

    /// The reply as the answer's content: JSON where a type was asked for, else its text.
    fn parse_answer(&self, text: &str) -> Result<Value, ValueError> {
        if self.answer.is_none() {
            return Ok(Value::String(text.to_owned()));
        }
        let content = serde_json::from_str(json_of(text)).map_err(|error| ValueError::misfit(&error))?;
        // T7: it must be readable again inside the record that keeps it.
        check_depth(&content)?;
        self.check_answer(&content).map(|()| content)
    }

    fn check_answer(&self, content: &Value) -> Result<(), ValueError> {
        self.answer.as_ref().map_or(Ok(()), |answer| (answer.check)(content))
    }

    fn send_back_unfit(&mut self, candidate: String, source: ValueError) -> Result<(), Error> {
        let limit = self.agent.settings.max_revisions.unwrap_or(REVISIONS_OF_STRUCTURED_ANSWERS);
        if self.revisions_made >= limit {
            return Err(Error::Answer { run_id: self.id().clone(), step: self.step, source });
        }
        let feedback = format!("The answer does not fit: {source}. Reply with JSON of the given schema only.");
        self.send_back(candidate, feedback);
        Ok(())
    }

    fn send_back_for(&mut self, hook: &str, candidate: String, feedback: String) -> Result<(), Error> {
        let (run_id, step) = (self.id().clone(), self.step);
        let Some(limit) = self.agent.settings.max_revisions else {
            return Err(Error::RevisionsNotAllowed { run_id, hook: hook.to_owned(), step });
        };
        if self.revisions_made >= limit {
            return Err(Error::Revisions { run_id, step, limit });
        }
        self.send_back(candidate, feedback);
        Ok(())
    }

    /// Lets the next step ask again; the answer and the feedback stand in its request only.
    fn send_back(&mut self, candidate: String, feedback: String) {
        self.retract();
        self.revisions_made += 1;
        let position = self.draft.history.kept().messages().len();
        self.revisions.push(Revision { candidate, feedback, position });
        let (step, revision) = (self.step, self.revisions_made);
        self.events.emit(|| RunEvent::RevisionRequested { step, revision });
        self.phase = Phase::Prepare;
    }
}

/// The JSON of a reply: models like to wrap it into a fenced block.
fn json_of(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}
