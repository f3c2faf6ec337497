//! What generated code refers to. Not for use by hand: names here change without notice.

pub use core::clone::Clone;
pub use core::marker::Sync;
pub use core::option::Option;
pub use core::primitive::{str, u8, usize};
pub use core::result::Result;
pub use core::time::Duration;
pub use core::{compile_error, concat, file, line, module_path, panic};
// Of a name that the compiler does not suggest to import where this module is not found.
pub use std::boxed::Box as Boxed;

pub use crate::fingerprint::ListFingerprint;
pub use crate::hook::{
    AbsentHook, AddHook, AfterTool, AfterToolSubject, AnswerFor, AsyncHook, BeforeComplete, BeforeCompleteSubject,
    BeforeModel, BeforeModelSubject, ChecksAnswers, Code, FromState, Hook, HookFor, HookFuture, HookMeta, HookOutput,
    HookParam, HookStage, IntoHookError, NotAResponse, NotATool, NotState, ParameterKind, SubjectKind, Thunk, ToolName,
    ToolObservation, ToolSubject, after_tool, before_complete, before_model, lend_observation, lend_response,
    narrow_observation, narrow_response,
};
pub use crate::state::FromRef;
pub use crate::tool::{
    AnArgument, ArgumentsSchema, DefaultParameter, FromCall, NoOutputSchema, OnError, OutputKind, OutputSchema,
    PlainOutput, Taken, Tool, ToolCall, ToolDefinition, ToolFailure, ToolFor, ToolInput, ToolOutput, ToolParameter,
    ToolParameterKind, ToolParameters, UnnamedParameter, check_names, fits, into_tool_result,
};

/// A type in angle brackets, where the compiler suggests the same for one that it does not find as it does in the
/// user's function.
pub type Argument<T> = T;

/// Holds a type, for which the compiler makes suggestions that it makes for no alias.
pub trait Holds {
    type Type;
}
