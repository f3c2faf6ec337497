//! The points of the loop at which hooks run (contract S1).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{FinalResponse, ModelRequest, ToolObservation};

/// A point of the agent loop at which hooks run.
///
/// ```
/// use protolink::Stage;
///
/// assert_eq!(Stage::BeforeModel.to_string(), "before_model");
/// assert_eq!(Stage::AfterTool.as_str(), "after_tool");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Before each request to the model.
    BeforeModel,
    /// After each successful tool call.
    AfterTool,
    /// Before an answer leaves.
    BeforeComplete,
}

impl Stage {
    /// The stage under the name of its attribute: `before_model`, `after_tool` or `before_complete`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BeforeModel => "before_model",
            Self::AfterTool => "after_tool",
            Self::BeforeComplete => "before_complete",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A stage as a type, with what its hooks are given: [`BeforeModel`], [`AfterTool`] or [`BeforeComplete`].
///
/// ```
/// use protolink::{BeforeModel, HookStage, Stage};
///
/// fn stage_of<S: HookStage>() -> Stage {
///     S::STAGE
/// }
/// assert_eq!(stage_of::<BeforeModel>(), Stage::BeforeModel);
/// ```
pub trait HookStage: sealed::Sealed + 'static {
    /// The stage as a value.
    const STAGE: Stage;
    /// What a hook of the stage is given.
    type Subject<'r>: Send;
}

/// The stage of [`ModelRequest`], as a type: what [`StageFn`](crate::StageFn) is asked for.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::{BeforeModel, StageFn};
///
/// fn add<K>(
///     builder: protolink::AgentBuilder,
///     hook: impl StageFn<BeforeModel, K>,
/// ) -> protolink::AgentBuilder {
///     builder.before_model("named here", hook)
/// }
/// # let _ =
/// add(Agent::builder("a"), |request: &mut ModelRequest<'_>| {
///     request.history().append_system("Be brief.")
/// });
/// ```
#[derive(Debug, Clone, Copy)]
pub struct BeforeModel;

/// The stage of [`ToolObservation`], as a type: what [`StageFn`](crate::StageFn) is asked for.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::{AfterTool, StageFn};
///
/// fn add<K>(
///     builder: protolink::AgentBuilder,
///     hook: impl StageFn<AfterTool, K>,
/// ) -> protolink::AgentBuilder {
///     builder.after_tool("named here", hook)
/// }
/// # let _ =
/// add(Agent::builder("a"), |observation: &mut ToolObservation<'_>| {
///     println!("{} ran", observation.tool())
/// });
/// ```
#[derive(Debug, Clone, Copy)]
pub struct AfterTool;

/// The stage of [`FinalResponse`], as a type: what [`StageFn`](crate::StageFn) is asked for.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::{BeforeComplete, StageFn};
///
/// fn add<K>(
///     builder: protolink::AgentBuilder,
///     hook: impl StageFn<BeforeComplete, K>,
/// ) -> protolink::AgentBuilder {
///     builder.before_complete("named here", hook)
/// }
/// # let _ =
/// add(Agent::builder("a"), |response: &mut FinalResponse<'_>| {
///     println!("{:?}", response.text())
/// });
/// ```
#[derive(Debug, Clone, Copy)]
pub struct BeforeComplete;

impl sealed::Sealed for BeforeModel {}
impl sealed::Sealed for AfterTool {}
impl sealed::Sealed for BeforeComplete {}

impl HookStage for BeforeModel {
    const STAGE: Stage = Stage::BeforeModel;
    type Subject<'r> = ModelRequest<'r>;
}

impl HookStage for AfterTool {
    const STAGE: Stage = Stage::AfterTool;
    type Subject<'r> = ToolObservation<'r>;
}

impl HookStage for BeforeComplete {
    const STAGE: Stage = Stage::BeforeComplete;
    type Subject<'r> = FinalResponse<'r>;
}

/// Whether a hook that checks answers of one type may be registered for an agent that gives answers of another.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a hook on `FinalResponse<'_, {Self}>` cannot check the answers of this agent",
    label = "this hook checks another type of answer",
    note = "give the agent its answer type with `.answer::<T>()` before the hook is registered, or take `&mut FinalResponse<'_>`"
)]
pub trait AnswerFor<A> {}

impl<A> AnswerFor<A> for super::Untyped {}
impl<T: serde::de::DeserializeOwned> AnswerFor<T> for T {}
