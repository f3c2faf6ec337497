//! A hook of a scenario, as the application function that its operations spell out.

use std::sync::Arc;

use protolink::{
    AgentHooks, BoxError, BoxFuture, FinalResponse, HistoryMut, Message, ModelRequest, NoState, Stage, ToolObservation,
};
use serde_json::Value;

use crate::build::{ARTIFACT_TOOL, ARTIFACT_TOOL_THERE};
use crate::flat::{Place, flat_length, place_at};
use crate::json_path;
use crate::operation::{Operation, Role};
use crate::setup::{HookSetup, STAGES};
use crate::world::{Entry, World};

/// What a hook of a scenario fails with: the class and the text that the scenario names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Raised {
    pub(crate) class: String,
    pub(crate) message: String,
    /// Whether the scenario names the text.
    pub(crate) is_named: bool,
}

/// What an operation fails with that cannot be done, in the class that the recorded runs have for it.
pub(crate) fn raised(class: &str, message: &str) -> BoxError {
    Box::new(Raised { class: class.to_owned(), message: message.to_owned(), is_named: false })
}

fn raised_by_name(class: &str, message: &str) -> BoxError {
    Box::new(Raised { class: class.to_owned(), message: message.to_owned(), is_named: true })
}

/// One hook at one stage.
struct Body {
    world: Arc<World>,
    id: String,
    stage: Stage,
    operations: Vec<Operation>,
}

/// What an operation is done to.
trait Subject {
    fn step(&self) -> u32;
    fn apply(&mut self, operation: &Operation) -> Result<(), BoxError>;
}

impl Body {
    fn run(&self, subject: &mut dyn Subject) -> Result<(), BoxError> {
        let (stage, step) = (self.stage.as_str(), subject.step());
        self.world.note(&Entry::Hook { stage: stage.to_owned(), id: self.id.clone(), step }).map_err(text)?;
        self.all(&self.operations, subject)
    }

    fn all(&self, operations: &[Operation], subject: &mut dyn Subject) -> Result<(), BoxError> {
        for operation in operations {
            match operation {
                Operation::Raise { error, message } => return Err(raised_by_name(error, message)),
                Operation::ReturnNothing => return Ok(()),
                Operation::Kill => return Err(text(self.world.kill())),
                Operation::IfStep { is, then } if is.contains(&subject.step()) => self.all(then, subject)?,
                Operation::IfCall { is, then } => {
                    let call = self.world.calls(self.stage.as_str(), &self.id).map_err(text)?;
                    if is.iter().any(|is| usize::try_from(*is) == Ok(call)) {
                        self.all(then, subject)?;
                    }
                }
                Operation::IfStep { .. } => {}
                other => subject.apply(other)?,
            }
        }
        Ok(())
    }
}

fn text(error: impl std::fmt::Display) -> BoxError {
    error.to_string().into()
}

impl Subject for ModelRequest<'_> {
    fn step(&self) -> u32 {
        ModelRequest::step(self)
    }

    fn apply(&mut self, operation: &Operation) -> Result<(), BoxError> {
        match operation {
            Operation::RemoveTool(name) if name == ARTIFACT_TOOL_THERE => {
                self.tools().remove_named(ARTIFACT_TOOL);
            }
            Operation::RemoveTool(name) => drop(self.tools().remove_named(name)),
            Operation::ClearTools => self.tools().retain(|_| false),
            Operation::AddMessage(role, text) => self.history().push(message(*role, text)),
            Operation::EditMessage(index, text) => return edit(&mut self.history(), *index, text),
            Operation::DeleteMessage(index) => return delete(&mut self.history(), *index),
            Operation::InsertMessage(index, role, text) => insert(&mut self.history(), *index, message(*role, text)),
            Operation::SetSystem(text) => self.history().set_system(text),
            Operation::AppendSystem(text) => self.history().append_system(text),
            Operation::ClearHistory => self.history().retain(|_| false),
            Operation::Truncate(most) => return truncate(&mut self.history(), *most),
            other => return Err(wrong_stage(other)),
        }
        Ok(())
    }
}

fn message(role: Role, text: &str) -> Message {
    match role {
        Role::User => Message::user(text),
        Role::Assistant => Message::assistant(text),
    }
}

fn edit(history: &mut HistoryMut<'_>, index: i64, text: &str) -> Result<(), BoxError> {
    match place_at(history, index) {
        None => return Err(raised("IndexError", "list index out of range")),
        Some(Place::System) => history.set_system(text),
        Some(Place::Message(at)) => drop(history.edit(at, |message| message.set_text(text))),
        Some(Place::Outcome(at, call_id)) => {
            let mut kept = Ok(true);
            history.edit(at, |message| kept = message.set_observed(&call_id, text));
            kept?;
        }
    }
    Ok(())
}

fn delete(history: &mut HistoryMut<'_>, index: i64) -> Result<(), BoxError> {
    match place_at(history, index) {
        None => Err(raised("IndexError", "list index out of range")),
        // The slot of the system message stays, and what is in it can be nothing (contract M8).
        Some(Place::System) => {
            history.set_system("");
            Ok(())
        }
        // A call goes with its outcome (contract M12).
        Some(Place::Message(at) | Place::Outcome(at, _)) => {
            history.remove(at);
            Ok(())
        }
    }
}

fn insert(history: &mut HistoryMut<'_>, index: i64, message: Message) {
    let end = history.len();
    let at = match place_at(history, index) {
        None if index < 0 => 0,
        None => end,
        // Nothing stands before the system message (contract M8).
        Some(Place::System) => 0,
        Some(Place::Message(at)) => at,
        // Nothing stands between a call and its outcome (contract M12).
        Some(Place::Outcome(at, _)) => at + 1,
    };
    history.insert(at, message);
}

fn truncate(history: &mut HistoryMut<'_>, most: usize) -> Result<(), BoxError> {
    if most < 2 {
        return Err(raised("ValueError", "max_messages must be >= 2"));
    }
    while flat_length(history) > most && history.remove(0).is_some() {}
    Ok(())
}

impl Subject for ToolObservation<'_> {
    fn step(&self) -> u32 {
        ToolObservation::step(self)
    }

    fn apply(&mut self, operation: &Operation) -> Result<(), BoxError> {
        match operation {
            Operation::SetResult(value) => *self.result_mut() = value.clone(),
            Operation::SetResultSpecial(special) => self.set_result(special)?,
            Operation::SetKey(path, value) => json_path::set(self.result_mut(), path, value.clone())?,
            Operation::DeleteKey(path) => json_path::delete(self.result_mut(), path)?,
            Operation::AppendKey(path, value) => json_path::append(self.result_mut(), path, value.clone())?,
            other => return Err(wrong_stage(other)),
        }
        Ok(())
    }
}

impl Subject for FinalResponse<'_> {
    fn step(&self) -> u32 {
        FinalResponse::step(self)
    }

    fn apply(&mut self, operation: &Operation) -> Result<(), BoxError> {
        match operation {
            Operation::SetContent(value) => self.set_content(value)?,
            Operation::SetContentSpecial(special) => self.set_content(special)?,
            Operation::Prefix(prefix) => {
                let content = self.text().map_or_else(|| self.content().to_string(), str::to_owned);
                self.set_text(format!("{prefix}{content}"));
            }
            Operation::CheckNonempty => {
                if self.text().is_none_or(|text| text.trim().is_empty()) {
                    return Err(raised("ValueError", "Expected a nonempty answer"));
                }
            }
            other => return Err(wrong_stage(other)),
        }
        Ok(())
    }
}

fn wrong_stage(operation: &Operation) -> BoxError {
    format!("an operation of another stage was read: {operation:?}").into()
}

/// The hooks in the order in which they are written.
pub(crate) fn group(world: &Arc<World>, hooks: &[HookSetup]) -> AgentHooks<NoState> {
    let mut group = AgentHooks::new();
    for hook in hooks {
        for stage in STAGES {
            let (Some(operations), Some(name)) = (hook.operations_at(stage), hook.name_at(stage)) else { continue };
            let body = Arc::new(Body {
                world: Arc::clone(world),
                id: hook.id.clone(),
                stage,
                operations: operations.to_vec(),
            });
            group = match (stage, hook.is_async) {
                (Stage::BeforeModel, false) => {
                    group.before_model(name, move |request: &mut ModelRequest<'_>| body.run(request))
                }
                (Stage::BeforeModel, true) => group.before_model(name, prepares(body)),
                (Stage::AfterTool, false) => {
                    group.after_tool(name, move |observation: &mut ToolObservation<'_>| body.run(observation))
                }
                (Stage::AfterTool, true) => group.after_tool(name, observes(body)),
                (Stage::BeforeComplete, false) => {
                    group.before_complete(name, move |response: &mut FinalResponse<'_>| body.run(response))
                }
                (Stage::BeforeComplete, true) => group.before_complete(name, completes(body)),
            };
        }
    }
    group
}

/// An async hook takes its time, so that one that does not wait for it would be seen to overtake it.
async fn a_moment() {
    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
}

fn prepares(
    body: Arc<Body>,
) -> impl for<'a, 'r> Fn(&'a mut ModelRequest<'r>) -> BoxFuture<'a, Result<(), BoxError>> + Send + Sync + 'static {
    move |request| {
        let body = Arc::clone(&body);
        Box::pin(async move {
            a_moment().await;
            body.run(request)
        })
    }
}

fn observes(
    body: Arc<Body>,
) -> impl for<'a, 'r> Fn(&'a mut ToolObservation<'r>) -> BoxFuture<'a, Result<(), BoxError>> + Send + Sync + 'static {
    move |observation| {
        let body = Arc::clone(&body);
        Box::pin(async move {
            a_moment().await;
            body.run(observation)
        })
    }
}

fn completes(
    body: Arc<Body>,
) -> impl for<'a, 'r> Fn(&'a mut FinalResponse<'r>) -> BoxFuture<'a, Result<(), BoxError>> + Send + Sync + 'static {
    move |response| {
        let body = Arc::clone(&body);
        Box::pin(async move {
            a_moment().await;
            body.run(response)
        })
    }
}

/// What a scenario's value looks like as an answer's text.
pub(crate) fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
