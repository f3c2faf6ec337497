//! What generated code refers to. Not for use by hand: names here change without notice.

pub use core::option::Option;
pub use core::result::Result;
pub use core::time::Duration;
pub use core::{file, line, module_path};
pub use std::boxed::Box;
pub use std::string::String;
pub use std::vec::Vec;

pub use schemars;
pub use serde;
pub use serde_json;

pub use crate::hook::{
    AnswerFor, AnswerType, AsyncHook, BoxError, BoxFuture, Hook, HookFor, HookMeta, HookOutput, HookStage, Registered,
    Stage, StageArg, StageSubject, Thunk, Untyped,
};
pub use crate::state::{FromRef, FromState, HookParam, State};
pub use crate::tool::{
    OnError, OutputKind, PlainOutput, Tool, ToolContext, ToolDefinition, ToolFailure, ToolFor, ToolInput, ToolOutput,
};
