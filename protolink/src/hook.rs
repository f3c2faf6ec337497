//! The three stages: what a hook is given, and how it is registered.

mod closure;
mod group;
mod observation;
mod registration;
mod request;
mod response;
mod run;
mod stage;

pub use closure::StageFn;
pub use group::AgentHooks;
pub(crate) use group::HookEntry;
pub(crate) use observation::ObservationDraft;
pub use observation::ToolObservation;
pub(crate) use registration::AnyThunk;
#[doc(hidden)]
pub use registration::{AsyncHook, Thunk};
pub use registration::{BoxError, BoxFuture, Hook, HookFor, HookMeta, HookOutput, IntoHookError, Registered};
pub use request::ModelRequest;
pub(crate) use request::StepDraft;
pub(crate) use response::ResponseDraft;
pub use response::{AnswerType, FinalResponse, Untyped};
pub(crate) use run::{BoundHook, panic_message};
pub use run::{HookIdentity, HookPanicked, HookTimedOut};
pub use stage::{AfterTool, BeforeComplete, BeforeModel, HookStage, Stage};
#[doc(hidden)]
pub use stage::{AnswerFor, StageArg, StageSubject};
