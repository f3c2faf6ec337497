//! Running the calls of a turn: side by side, each with its receipt committed when it ends (contract D1, T6, P6).

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tracing::{Instrument, Span};

use super::state::{Phase, Run};
use super::telemetry;
use super::waiting::{SideBySide, catching_panics, unless_cancelled};
use crate::durable::journal::{CallRecord, CallState, Record};
use crate::error::Error;
use crate::event::RunEvent;
use crate::hook::{BoxError, text_of};
use crate::message::ToolCall;
use crate::receipt::{Receipt, ReceiptOutcome};
use crate::rules::ContextPolicy;
use crate::rules::context::read_artifact;
use crate::settings::AgentInner;
use crate::tool::{OnError, ToolCode, ToolContext, ToolFailure, ToolInput, ToolRuns};

/// How one call ended.
struct Ended {
    index: usize,
    result: Result<Value, ToolFailure>,
    duration: Duration,
    span: Span,
}

/// A tool did not end in its time; found as the `source` of [`Error::Tool`](crate::Error::Tool).
///
/// ```
/// use protolink::ToolTimedOut;
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
/// use std::time::Duration;
///
/// /// Never ends.
/// #[tool]
/// async fn wait() -> String {
///     std::future::pending().await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::call("wait", serde_json::json!({}))]);
/// let timeout = Duration::from_millis(5);
/// let agent =
///     Agent::builder("a").model(model).tools(tools![wait]).tool_timeout(timeout).build()?;
/// let Err(Error::Tool { source, .. }) = agent.invoke("Go.").await else { panic!("it fails") };
/// assert_eq!(source.downcast_ref(), Some(&ToolTimedOut { after: timeout }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool did not return within {after:?}; whether its effect happened is not known")]
pub struct ToolTimedOut {
    /// The deadline.
    pub after: Duration,
}

/// A tool panicked; found as the `source` of [`Error::Tool`](crate::Error::Tool).
///
/// ```
/// use protolink::ToolPanicked;
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// /// Always panics.
/// #[tool]
/// fn broken() -> String {
///     panic!("no catalogue")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::call("broken", serde_json::json!({}))]);
/// let agent = Agent::builder("a").model(model).tools(tools![broken]).build()?;
/// let Err(Error::Tool { source, .. }) = agent.invoke("Go.").await else { panic!("it fails") };
/// assert_eq!(source.downcast_ref(), Some(&ToolPanicked { message: "no catalogue".to_owned() }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool panicked: {message}")]
pub struct ToolPanicked {
    /// What it panicked with, where that is text.
    pub message: String,
}

impl Run {
    /// Runs every intended call of the turn. After a failure no further call starts; those that run are awaited, and
    /// their receipts committed.
    pub(super) async fn dispatch(&mut self) -> Result<(), Error> {
        let Phase::Calls(turn) = &self.phase else { return Ok(()) };
        let mut waiting = 0..turn.calls.len();
        let agent = Arc::clone(&self.agent);
        let mut running = SideBySide::new();
        let mut failure = None;
        loop {
            // A cancelled run starts nothing more.
            failure = failure.or_else(|| self.check_cancelled().err());
            while failure.is_none() && running.len() < agent.settings.max_parallel_tools {
                let Some(index) = waiting.next() else { break };
                match self.start_call(&agent, index) {
                    Ok(Some(future)) => running.push(future),
                    Ok(None) => {}
                    Err(error) => failure = Some(error),
                }
            }
            let cancel = self.cancel.clone();
            match unless_cancelled(&cancel, running.next()).await {
                None => return Err(self.cancelled()),
                Some(None) => break,
                Some(Some(ended)) => {
                    if let Err(error) = self.call_ended(&agent, ended).await {
                        failure = failure.or(Some(error));
                    }
                }
            }
        }
        failure.map_or_else(|| self.check_corrections(), Err)
    }

    /// Hands a call to its tool, if it is to be dispatched.
    fn start_call<'a>(
        &mut self,
        agent: &'a AgentInner,
        index: usize,
    ) -> Result<Option<impl Future<Output = Ended> + Send + use<'a>>, Error> {
        let Phase::Calls(turn) = &mut self.phase else { return Ok(None) };
        let Some(CallRecord { call, state: CallState::Intended, .. }) = turn.calls.get(index) else {
            return Ok(None);
        };
        let Some(tool) = agent.tool(&call.name) else {
            return Err(Error::UnknownTool { agent: agent.settings.name.clone(), tool: call.name.clone() });
        };
        if let Some(started) = turn.started.get_mut(index) {
            *started = true;
        }
        let Phase::Calls(turn) = &self.phase else { return Ok(None) };
        let CallRecord { action_id, call, .. } = &turn.calls[index];
        let step = self.step;
        self.events.emit(|| {
            let (call_id, tool, action_id) = (call.id.clone(), call.name.clone(), action_id.clone());
            RunEvent::ToolStarted { step, call_id, tool, action_id }
        });
        let span = telemetry::execute_tool(self, call);
        let timeout = agent.settings.tool_timeout;
        let work = match &tool.code {
            ToolCode::Application(tool) => {
                let context = ToolContext {
                    action_id: action_id.clone(),
                    call_id: call.id.clone(),
                    step,
                    run: Arc::clone(&self.context),
                    cancellation: self.cancel.clone(),
                };
                Work::Tool(&**tool, ToolInput { arguments: call.arguments.clone(), context })
            }
            ToolCode::BuiltIn => Work::Done(self.read_artifact(&call.arguments)),
        };
        Ok(Some(async move {
            let started = Instant::now();
            let result = work.done(timeout).instrument(span.clone()).await;
            Ended { index, result, duration: started.elapsed(), span }
        }))
    }

    /// Reads a page of a result that this step's request showed in part.
    fn read_artifact(&self, arguments: &Value) -> Result<Value, ToolFailure> {
        let page = self.agent.settings.context_policy.as_ref().map_or(0, ContextPolicy::page_chars);
        match self.draft.history.sent_or_lost() {
            Some(sent) => read_artifact(sent.messages(), arguments, page),
            None => Err(ToolFailure::Rejected("the artifact is not at hand now; read it again".to_owned())),
        }
    }

    /// Commits the receipt of a call that ended, and says what it does to the run.
    async fn call_ended(&mut self, agent: &AgentInner, ended: Ended) -> Result<(), Error> {
        let Ended { index, result, duration, span } = ended;
        let record = match &self.phase {
            Phase::Calls(turn) => turn.calls.get(index),
            _ => None,
        };
        // The receipt keeps the call as it was carried out, whatever becomes of the turn.
        let Some(CallRecord { action_id, call, .. }) = record.cloned() else { return Ok(()) };
        let report = agent.tool(&call.name).is_some_and(|tool| tool.on_error == OnError::Report);
        let (run_id, step) = (self.id().clone(), self.step);
        let failed = |source: BoxError| Error::Tool {
            run_id: run_id.clone(),
            tool: call.name.clone(),
            call_id: call.id.clone(),
            step,
            source,
        };
        let mut error = None;
        let outcome = match result {
            Ok(value) => ReceiptOutcome::Returned(value.into()),
            Err(ToolFailure::BadArguments(reason) | ToolFailure::Rejected(reason)) => ReceiptOutcome::Rejected(reason),
            Err(ToolFailure::Failed(source)) => {
                let text = text_of(&source);
                error = (!report).then(|| failed(source));
                ReceiptOutcome::Failed(text)
            }
            Err(ToolFailure::Unkept(source)) => {
                let text = text_of(&source);
                let (run_id, tool, action_id) = (run_id.clone(), call.name.clone(), action_id.clone());
                error = Some(Error::ToolValue { run_id, tool, action_id, step, source });
                ReceiptOutcome::Unkept(text)
            }
            // No receipt: nobody knows what became of it, and nothing may say otherwise.
            Err(ToolFailure::Uncertain(source)) if !report => {
                telemetry::executed(&span, None, false);
                return Err(failed(source));
            }
            Err(ToolFailure::Reported(source) | ToolFailure::Uncertain(source)) => {
                ReceiptOutcome::Failed(text_of(&source))
            }
        };
        if let ReceiptOutcome::Rejected(reason) = &outcome {
            self.refused(&call, &crate::message::ToolOutcome::Rejected(reason.clone()));
        }
        let ToolCall { id: call_id, name: tool, arguments } = call;
        let receipt = Arc::new(Receipt { action_id, call_id, tool, arguments, step, outcome });
        telemetry::executed(&span, Some(&receipt), agent.settings.capture_content);
        drop(span);
        let committed = self.commit_receipt(index, Arc::clone(&receipt)).await;
        self.events.emit(|| {
            let (call_id, tool) = (receipt.call_id.clone(), receipt.tool.clone());
            RunEvent::ToolFinished { step, call_id, tool, succeeded: receipt.result().is_some(), duration }
        });
        committed?;
        error.map_or(Ok(()), Err)
    }

    async fn commit_receipt(&mut self, index: usize, receipt: Arc<Receipt>) -> Result<(), Error> {
        if self.journal.is_some() {
            let spent = self.spent_now().clone();
            let record = Record::Receipted { receipt: (*receipt).clone(), spent };
            if let Some(journal) = &mut self.journal {
                journal.append(&record).await?;
            }
        }
        if let Phase::Calls(turn) = &mut self.phase
            && let Some(call) = turn.calls.get_mut(index)
        {
            call.state = CallState::Done(Arc::clone(&receipt));
        }
        self.receipts.push(receipt);
        Ok(())
    }
}

/// What is behind a call.
enum Work<'a> {
    Tool(&'a dyn ToolRuns, ToolInput),
    /// The loop has answered by itself.
    Done(Result<Value, ToolFailure>),
}

impl Work<'_> {
    async fn done(self, timeout: Option<Duration>) -> Result<Value, ToolFailure> {
        let (tool, input) = match self {
            Self::Tool(tool, input) => (tool, input),
            Self::Done(result) => return result,
        };
        let result = catching_panics(async { tool.call(input).await });
        let result = match timeout {
            None => result.await,
            Some(after) => tokio::time::timeout(after, result)
                .await
                .map_err(|_| ToolFailure::Uncertain(Box::new(ToolTimedOut { after })))?,
        };
        result.unwrap_or_else(|message| Err(ToolFailure::Failed(Box::new(ToolPanicked { message }))))
    }
}
