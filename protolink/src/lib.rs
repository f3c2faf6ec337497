//! Your own code in an LLM agent's loop.

// Generated code names this crate by its path, here too.
extern crate self as protolink;

#[doc(hidden)]
pub mod __private;
mod agent;
mod blocking;
mod builder;
mod change;
mod config;
mod conversation;
mod digest;
pub mod durable;
mod error;
mod event;
mod fingerprint;
mod history;
mod hook;
mod ids;
mod lists;
mod message;
pub mod model;
mod outcome;
pub mod prelude;
mod receipt;
mod roster;
pub mod rules;
mod run;
mod run_context;
mod settings;
pub mod signature;
mod state;
pub mod testing;
pub mod tool;
mod value;

pub use agent::{Agent, TypedAgent};
pub use async_trait::async_trait;
pub use blocking::BlockingAgent;
pub use builder::AgentBuilder;
pub use change::{Captured, Change, MessageEdit, Scope};
pub use config::AgentConfig;
pub use conversation::Conversation;
pub use digest::Digest;
pub use error::{BuildError, Error};
pub use event::{ContentEffect, HookEffect, Observer, RunEvent};
pub use fingerprint::{
    ContractChange, ContractFingerprint, ContractPart, Fingerprint, ListFingerprint, PartKind, UnknownFingerprint,
};
pub use history::{HistoryMut, MessageMut};
pub use hook::{
    AfterTool, AgentHooks, AnswerType, BeforeComplete, BeforeModel, BoxError, BoxFuture, FinalResponse, Hook, HookFor,
    HookIdentity, HookMeta, HookOutput, HookPanicked, HookTimedOut, IntoHookError, ModelRequest, Registered, Stage,
    StageFn, ToolObservation, Untyped,
};
pub use ids::{ActionId, MessageId, RunId};
pub use message::{Attachment, AttachmentSource, Content, Exchange, Message, ToolCall, ToolOutcome, Turn};
pub use outcome::{Answer, Interruption, InterruptionRequest, Outcome};
pub use protolink_macros::{FromRef, after_tool, before_complete, before_model, hook_module, tool};
pub use receipt::{Receipt, ReceiptOutcome};
pub use roster::ToolsMut;
pub use run::{ResumeBuilder, RunBuilder, RunEvents, RunHandle, RunStream, ToolPanicked, ToolTimedOut};
pub use run_context::RunContext;
pub use state::{FromRef, NoState, State};
pub use tokio_util::sync::CancellationToken;
pub use tool::{DynTool, OnError, Tool, ToolContext, ToolError, ToolFor, ToolSpec};
pub use value::{MAX_DEPTH, SharedValue, ValueError};
