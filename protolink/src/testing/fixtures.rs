//! Inputs that a test lends to a hook, and reads afterwards.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::change::Change;
use crate::history::{History, HistoryDraft};
use crate::hook::{BoxError, FinalResponse, ModelRequest, ObservationDraft, ResponseDraft, StepDraft, ToolObservation};
use crate::ids::RunId;
use crate::message::Message;
use crate::receipt::Receipt;
use crate::roster::{Roster, RosterDraft};
use crate::run_context::RunContext;
use crate::tool::{Tool, ToolSpec};
use crate::value::{SharedValue, ValueError, to_value, to_value_of};

fn context() -> RunContext {
    RunContext::new(RunId::from("fixture"), "fixture")
}

/// A request to lend to a `before_model` hook.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::RequestFixture;
///
/// /// Search the catalogue.
/// #[tool]
/// fn search(query: String) -> String { query }
///
/// #[before_model]
/// fn last_step(request: &mut ModelRequest<'_>) {
///     if request.step() == 3 {
///         request.tools().remove::<search>();
///     }
/// }
///
/// let mut fixture = RequestFixture::new().system("Be brief.").user("Which lamps?").tool::<search>().step(3);
/// fixture.with(|request| last_step(request));
/// assert!(fixture.tool_names().is_empty());
/// assert_eq!(fixture.changes().len(), 1);
/// ```
#[derive(Debug)]
pub struct RequestFixture {
    draft: StepDraft,
    tools: Vec<Arc<ToolSpec>>,
    context: RunContext,
    step: u32,
    changes: Vec<Change>,
}

impl RequestFixture {
    /// A request without messages and tools, at step 1.
    #[must_use]
    pub fn new() -> Self {
        Self {
            draft: StepDraft {
                history: HistoryDraft::new(History::default()),
                roster: RosterDraft::new(Roster::new(Arc::default())),
            },
            tools: Vec::new(),
            context: context(),
            step: 1,
            changes: Vec::new(),
        }
    }

    /// The compiled system message.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.draft.history.set_compiled(text.into().into());
        self
    }

    /// Adds a message.
    #[must_use]
    pub fn message(mut self, message: impl Into<Arc<Message>>) -> Self {
        self.draft.history.record_push(message.into());
        self
    }

    /// Adds a user message.
    #[must_use]
    pub fn user(self, text: impl Into<String>) -> Self {
        self.message(Message::user(text))
    }

    /// Adds a turn of the model.
    #[must_use]
    pub fn assistant(self, text: impl Into<String>) -> Self {
        self.message(Message::assistant(text))
    }

    /// Adds a tool to the step's roster.
    #[must_use]
    pub fn tool<T: Tool>(self) -> Self {
        self.tool_named(T::NAME)
    }

    /// Adds a tool of this name to the step's roster.
    #[must_use]
    pub fn tool_named(self, name: impl Into<String>) -> Self {
        let schema = serde_json::json!({ "type": "object" });
        self.tool_spec(ToolSpec::new(name.into(), String::new(), schema, Vec::new(), false))
    }

    /// Adds a tool with its whole description to the step's roster.
    #[must_use]
    pub fn tool_spec(mut self, spec: ToolSpec) -> Self {
        self.tools.push(Arc::new(spec));
        self.draft.roster = RosterDraft::new(Roster::new(self.tools.clone().into()));
        self
    }

    /// The step, counted from 1.
    #[must_use]
    pub fn step(mut self, step: u32) -> Self {
        self.step = step;
        self
    }

    /// The facts about the run.
    #[must_use]
    pub fn context(mut self, change: impl FnOnce(&mut RunContext)) -> Self {
        change(&mut self.context);
        self
    }

    /// Lends the request. What is done to it counts, whatever `hook` returns.
    pub fn with<R>(&mut self, hook: impl FnOnce(&mut ModelRequest<'_>) -> R) -> R {
        let result = hook(&mut ModelRequest::new(&mut self.draft, &self.context, "fixture", self.step));
        self.changes.extend(self.draft.accept());
        result
    }

    /// Lends the request to an async hook. What is done to it counts, whatever `hook` returns.
    pub async fn with_async<R>(&mut self, hook: impl AsyncFnOnce(&mut ModelRequest<'_>) -> R) -> R {
        let result = hook(&mut ModelRequest::new(&mut self.draft, &self.context, "fixture", self.step)).await;
        self.changes.extend(self.draft.accept());
        result
    }

    /// The conversation as it would be kept.
    #[must_use]
    pub fn messages(&self) -> &[Arc<Message>] {
        self.draft.history.kept().messages()
    }

    /// The messages as they would be sent at this step.
    #[must_use]
    pub fn sent_messages(&self) -> &[Arc<Message>] {
        self.draft.history.sent().messages()
    }

    /// The system message as it would be sent.
    #[must_use]
    pub fn system_text(&self) -> &str {
        self.draft.history.sent_system()
    }

    /// The tools that are left.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        self.draft.roster.roster().specs().iter().map(|spec| spec.name()).collect()
    }

    /// What was done, in order.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

impl Default for RequestFixture {
    fn default() -> Self {
        Self::new()
    }
}

/// A tool's result to lend to an `after_tool` hook.
#[derive(Debug)]
pub struct ObservationFixture<O = Value> {
    draft: ObservationDraft,
    original: SharedValue,
    tool: String,
    call_id: String,
    context: RunContext,
    step: u32,
    changes: Vec<Change>,
    narrow: Narrow<O>,
}

/// How the result is looked at.
type Narrow<O> = for<'a, 'o> fn(&'a mut ToolObservation<'o>) -> Result<Option<ToolObservation<'a, O>>, BoxError>;

fn narrow<'a, T: Tool>(
    observation: &'a mut ToolObservation<'_>,
) -> Result<Option<ToolObservation<'a, T::Output>>, BoxError>
where
    T::Output: DeserializeOwned + Send + 'static,
{
    observation.narrow::<T>()
}

impl ObservationFixture {
    /// A result as JSON, for a hook without `tool = ..`.
    #[must_use]
    pub fn json(tool: impl Into<String>, result: Value) -> Self {
        Self::new(tool.into(), result.into(), |observation| Ok(Some(observation.reborrow())))
    }
}

impl<O> ObservationFixture<O> {
    fn new(tool: String, result: SharedValue, narrow: Narrow<O>) -> Self {
        Self {
            draft: ObservationDraft::new(result.clone()),
            original: result,
            tool,
            call_id: "call_1".to_owned(),
            context: context(),
            step: 1,
            changes: Vec::new(),
            narrow,
        }
    }

    /// The step, counted from 1.
    #[must_use]
    pub fn step(mut self, step: u32) -> Self {
        self.step = step;
        self
    }

    /// The provider's identifier of the call.
    #[must_use]
    pub fn call_id(mut self, call_id: impl Into<String>) -> Self {
        self.call_id = call_id.into();
        self
    }

    /// The facts about the run.
    #[must_use]
    pub fn context(mut self, change: impl FnOnce(&mut RunContext)) -> Self {
        change(&mut self.context);
        self
    }

    /// The result as the model would see it, as JSON.
    #[must_use]
    pub fn result(&self) -> &Value {
        self.draft.current()
    }

    /// The result as the receipt keeps it, as JSON.
    #[must_use]
    pub fn original(&self) -> &Value {
        &self.original
    }

    /// What was done, in order.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

impl<O: Serialize + DeserializeOwned + Send + 'static> ObservationFixture<O> {
    /// A result of the tool `T`, for a hook with `tool = ..`.
    ///
    /// # Panics
    /// Where the result cannot be written as JSON: it could not come out of a tool either.
    #[must_use]
    pub fn of<T: Tool<Output = O>>(result: O) -> Self {
        match to_value_of(result) {
            Ok(json) => Self::new(T::NAME.to_owned(), json.into(), narrow::<T>),
            Err(error) => panic!("the result of `{}` cannot be written as JSON: {error}", T::NAME),
        }
    }

    /// Lends the result. What is done to it counts, whatever `hook` returns.
    ///
    /// # Panics
    /// Where what the hook left cannot be kept as JSON; a run fails with a typed error there.
    pub fn with<R>(&mut self, hook: impl FnOnce(&mut ToolObservation<'_, O>) -> R) -> R {
        let mut whole = ToolObservation::new(&mut self.draft, &self.tool, &self.call_id, &self.context, self.step);
        let (result, committed) = match (self.narrow)(&mut whole) {
            Ok(Some(mut observation)) => (hook(&mut observation), observation.commit()),
            _ => panic!("the result of `{}` is not of the type that it was made of", self.tool),
        };
        self.accept(committed);
        result
    }

    /// Lends the result to an async hook. What is done to it counts, whatever `hook` returns.
    ///
    /// # Panics
    /// Where what the hook left cannot be kept as JSON; a run fails with a typed error there.
    pub async fn with_async<R>(&mut self, hook: impl AsyncFnOnce(&mut ToolObservation<'_, O>) -> R) -> R {
        let mut whole = ToolObservation::new(&mut self.draft, &self.tool, &self.call_id, &self.context, self.step);
        let (result, committed) = match (self.narrow)(&mut whole) {
            Ok(Some(mut observation)) => (hook(&mut observation).await, observation.commit()),
            _ => panic!("the result of `{}` is not of the type that it was made of", self.tool),
        };
        self.accept(committed);
        result
    }

    fn accept(&mut self, committed: Result<(), BoxError>) {
        let accepted = committed.map_err(|error| error.to_string());
        let change = accepted.and_then(|()| self.draft.accept(&self.call_id).map_err(|error| error.to_string()));
        match change {
            Ok(change) => self.changes.extend(change),
            Err(error) => panic!("what the hook left of the result cannot be kept: {error}"),
        }
    }
}

/// A proposed answer to lend to a `before_complete` hook.
#[derive(Debug)]
pub struct ResponseFixture {
    draft: ResponseDraft,
    receipts: Vec<Arc<Receipt>>,
    context: RunContext,
    step: u32,
    changes: Vec<Change>,
    revision: Option<String>,
}

impl ResponseFixture {
    /// A plain answer.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Value::String(text.into()))
    }

    /// A structured answer.
    ///
    /// # Errors
    /// [`ValueError`] where it cannot be stored exactly.
    pub fn content(content: impl Serialize) -> Result<Self, ValueError> {
        to_value(&content).map(Self::new)
    }

    fn new(content: Value) -> Self {
        Self {
            draft: ResponseDraft::new(content.into()),
            receipts: Vec::new(),
            context: context(),
            step: 1,
            changes: Vec::new(),
            revision: None,
        }
    }

    /// Adds the receipt of a call that gave this back.
    #[must_use]
    pub fn receipt(mut self, tool: impl Into<String>, result: Value) -> Self {
        let number = self.receipts.len() + 1;
        self.receipts.push(Arc::new(Receipt::fixture(tool.into(), number, result)));
        self
    }

    /// The step, counted from 1.
    #[must_use]
    pub fn step(mut self, step: u32) -> Self {
        self.step = step;
        self
    }

    /// The facts about the run.
    #[must_use]
    pub fn context(mut self, change: impl FnOnce(&mut RunContext)) -> Self {
        change(&mut self.context);
        self
    }

    /// Lends the answer. What is done to it counts, whatever `hook` returns.
    pub fn with<R>(&mut self, hook: impl FnOnce(&mut FinalResponse<'_>) -> R) -> R {
        let result = hook(&mut FinalResponse::new(&mut self.draft, &self.receipts, &self.context, self.step));
        self.accept();
        result
    }

    /// Lends the answer to an async hook. What is done to it counts, whatever `hook` returns.
    pub async fn with_async<R>(&mut self, hook: impl AsyncFnOnce(&mut FinalResponse<'_>) -> R) -> R {
        let result = hook(&mut FinalResponse::new(&mut self.draft, &self.receipts, &self.context, self.step)).await;
        self.accept();
        result
    }

    fn accept(&mut self) {
        let accepted = self.draft.accept();
        self.changes.extend(accepted.changes);
        self.revision = accepted.revision.or(self.revision.take());
    }

    /// The answer as it would leave.
    #[must_use]
    pub fn answer(&self) -> &Value {
        self.draft.content()
    }

    /// The feedback with which it goes back to the model, where a hook asked for that.
    #[must_use]
    pub fn revision(&self) -> Option<&str> {
        self.revision.as_deref()
    }

    /// What was done, in order.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}
