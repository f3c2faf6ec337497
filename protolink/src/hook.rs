//! The three stages: what a hook is given, and how it is registered.

mod closure;
mod code;
mod facts;
mod future;
mod group;
mod observation;
mod parameter;
mod registration;
mod request;
mod response;
mod run;
mod stage;

pub use closure::StageFn;
pub(crate) use code::AnyCode;
#[doc(hidden)]
pub use code::{Code, after_tool, before_complete, before_model};
#[doc(hidden)]
pub use future::HookFuture;
pub use group::{AddHook, AgentHooks};
pub(crate) use group::{EntryCode, HookEntry};
pub(crate) use observation::ObservationDraft;
pub use observation::ToolObservation;
#[doc(hidden)]
pub use parameter::{
    AbsentHook, ChecksAnswers, FromState, NotAResponse, NotATool, NotState, ParameterKind, SubjectKind, ToolName,
    lend_observation, lend_response, narrow_observation, narrow_response,
};
pub use parameter::{AfterToolSubject, BeforeCompleteSubject, BeforeModelSubject, HookParam, ToolSubject};
#[doc(hidden)]
pub use registration::{AsyncHook, Thunk};
pub use registration::{BoxError, BoxFuture, Hook, HookFor, HookMeta, HookOutput, IntoHookError, Registered};
pub use request::ModelRequest;
pub(crate) use request::StepDraft;
pub(crate) use response::ResponseDraft;
pub use response::{AnswerType, FinalResponse, Untyped};
pub(crate) use run::{BoundHook, HookCode, panic_message, text_of};
pub use run::{HookIdentity, HookPanicked, HookTimedOut};
#[doc(hidden)]
pub use stage::AnswerFor;
pub use stage::{AfterTool, BeforeComplete, BeforeModel, HookStage, Stage};
