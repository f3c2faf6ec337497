//! Your own code in an LLM agent's loop: typed hooks that cannot wreck the run, and receipts of what really ran.
//!
//! An agent loop sends a conversation and a tool roster to a model, runs the tool that the model asks for, feeds the
//! result back, and stops at a final answer. An application needs its own code at three points of it. In protolink
//! that code is an ordinary function under an attribute:
//!
//! ```
//! use protolink::prelude::*;
//! use protolink::testing::{Reply, ScriptedModel};
//!
//! /// Search the catalogue.
//! #[tool]
//! async fn search(query: String) -> Vec<String> {
//!     vec![format!("a lamp for {query}")]
//! }
//!
//! #[before_model]
//! fn be_brief(request: &mut ModelRequest<'_>) {
//!     request.history().append_system("Answer in one sentence.");
//! }
//!
//! #[after_tool(tool = search)]
//! fn first_hit(observation: &mut ToolObservation<'_, Vec<String>>) {
//!     observation.result_mut().truncate(1);
//! }
//!
//! #[before_complete]
//! fn not_empty(response: &mut FinalResponse<'_>) -> Result<(), String> {
//!     if response.text() == Some("") { Err("the answer is empty".to_owned()) } else { Ok(()) }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedModel::new([
//!     Reply::call("search", serde_json::json!({ "query": "desks" })),
//!     Reply::text("There is a lamp for desks."),
//! ]);
//! let agent = Agent::builder("helper")
//!     .instructions("Answer from the catalogue.")
//!     .model(model)
//!     .tools(tools![search])
//!     .hooks(hooks![be_brief, first_hit, not_empty])
//!     .build()?;
//! assert_eq!(agent.invoke("Which lamps?").await?.text(), "There is a lamp for desks.");
//! # Ok(())
//! # }
//! ```
//!
//! # The story of a run
//!
//! A run is a number of steps. In each of them, in this order:
//!
//! 1. the system message is compiled: the instructions, and the tools for a model that does not take them by itself;
//! 2. the [`before_model`] hooks run, once each, on a [`ModelRequest`]: they edit the history and take tools away;
//! 3. the [`ContextPolicy`](rules::ContextPolicy) makes the request fit, the [`Budget`](rules::Budget) is checked on it;
//! 4. the model is asked; every repeated attempt sends the very same request;
//! 5. each call in the reply is judged: is the tool in the step's roster, do the arguments fit, does the
//!    [`Policy`](rules::Policy) allow it; what is refused is told to the model, and counted;
//! 6. the calls that may run do, side by side, and each leaves a [`Receipt`] of what really happened;
//! 7. the [`after_tool`] hooks shape copies of the results on a [`ToolObservation`]: this is what the model will see.
//!
//! A reply without calls is a proposed answer: the [`before_complete`] hooks check it on a [`FinalResponse`], then it is
//! kept, then it is announced, and the run is over. With a store ([`durable`]) each of these points is committed before
//! the next is begun, so that another process can go on where this one stopped.
//!
//! # Order
//!
//! Hooks of a stage run one after another, in the order of their registration; [`hooks!`], [`AgentHooks`] and
//! [`hook_module`] keep their own order in the place where they are registered. Sync and async hooks mix; a sync hook is a
//! plain function pointer and pays for no future.
//!
//! # What is caught where
//!
//! | mistake | caught by |
//! | --- | --- |
//! | a hook replaces, clones or keeps the history, the roster or the answer | the type system |
//! | a hook adds or restores a tool, or names one that does not exist | the type system |
//! | a hook has the wrong parameter, return type or stage | the attribute, at the type that is wrong |
//! | a hook or tool asks for state that the agent does not have | the builder, at the name in the list |
//! | a hook is never registered | rustc's own lint, under the function's name |
//! | two tools of one name, a hook twice, a hook for a missing tool, no model | [`AgentBuilder::build`] |
//! | a hook fails, panics, takes too long, gives back what JSON cannot keep | [`Error`], with hook, stage and step |
//! | the model calls a tool that the step does not have | a correction to the model, and [`Error::ToolCorrections`] |
//! | the agent changed between a pause and its resume | [`Error::ContractChanged`], in words |
//!
//! # Finding your way
//!
//! | to | there is |
//! | --- | --- |
//! | put an agent together and run it | [`Agent`], [`AgentBuilder`], [`RunBuilder`], [`Conversation`], [`BlockingAgent`] |
//! | write a hook | [`before_model`] on a [`ModelRequest`], [`after_tool`] on a [`ToolObservation`], [`before_complete`] on a [`FinalResponse`], with [`State`] |
//! | write a tool | [`tool`](macro@tool), with [`ToolContext`] and [`ToolError`]; [`DynTool`] for one that is made at run time |
//! | ask a model | [`model`]: `GenaiModel` for real ones, a [`Model`](model::Model) of your own |
//! | set limits, ask a person | [`rules`]: budget, policy, approval, context, retries |
//! | watch a run | [`RunStream`], [`RunHandle`], [`Observer`], [`RunEvent`] |
//! | wait, crash and go on | [`durable`], [`ResumeBuilder`], [`Interruption`] |
//! | test all of it | [`testing`] |
//! | read what a signature may be | [`signature`] |
//!
//! # Testing
//!
//! A hook is a function: call it on a fixture of [`testing`]. An agent is tested with a
//! [`ScriptedModel`](testing::ScriptedModel), without a network.
//!
//! # Features
//!
//! None is on by default: the loop, the macros, an in-memory store and the test kit need no network and no C compiler.
//!
//! | feature | brings |
//! | --- | --- |
//! | `sqlite` | `durable::SqliteStore`: runs in a file, on a bundled SQLite |
//! | `genai` | `model::GenaiModel`: OpenAI, Anthropic, Gemini, Ollama and any OpenAI-compatible server |
//! | `mcp` | `McpTools`: tools of MCP servers, as child processes or over HTTP |
//! | `genai-http`, `mcp-http` | the same without TLS |
//! | `testing-server` | `testing::server`: a scripted model server on loopback |

#![cfg_attr(docsrs, feature(doc_cfg))]

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
mod macros;
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

/// Generated code finds the runtime crate by this name where the option `crate` leads to it.
#[doc(hidden)]
pub use __private as protolink_attributes;
pub use agent::{Agent, TypedAgent};
pub use async_trait::async_trait;
pub use blocking::BlockingAgent;
pub use builder::AgentBuilder;
pub use change::{Captured, Change, MessageEdit, Scope};
pub use config::AgentConfig;
pub use conversation::Conversation;
pub use digest::Digest;
pub use error::{BuildError, Error};
pub use event::{HookDifference, HookEffect, Observer, RunEvent};
pub use fingerprint::{
    ContractChange, ContractFingerprint, ContractPart, Fingerprint, ListFingerprint, PartKind, UnknownFingerprint,
};
pub use history::{HistoryMut, MessageMut};
pub use hook::{
    AfterTool, AgentHooks, AnswerType, BeforeComplete, BeforeModel, BoxError, BoxFuture, FinalResponse, Hook, HookFor,
    HookIdentity, HookMeta, HookOutput, HookPanicked, HookStage, HookTimedOut, IntoHookError, ModelRequest, Registered,
    Stage, StageFn, ToolObservation, Untyped,
};
pub use ids::{ActionId, MessageId, RunId};
pub use macros::{FromRef, after_tool, before_complete, before_model, hook_module, tool};
pub use message::{Attachment, AttachmentSource, Content, Exchange, Message, ToolCall, ToolOutcome, Turn};
pub use outcome::{Answer, Interruption, InterruptionRequest, Outcome};
pub use receipt::{Receipt, ReceiptOutcome};
pub use roster::ToolsMut;
pub use run::{ResumeBuilder, RunBuilder, RunEvents, RunHandle, RunStream, ToolPanicked, ToolTimedOut};
pub use run_context::RunContext;
pub use state::{FromRef, NoState, State};
pub use tokio_util::sync::CancellationToken;
#[doc(inline)]
pub use tool::{DynTool, OnError, Tool, ToolContext, ToolError, ToolFor, ToolSpec};
#[cfg(feature = "mcp-http")]
#[doc(inline)]
pub use tool::{McpConnect, McpError, McpMedia, McpTools};
pub use value::{MAX_DEPTH, SharedValue, ValueError};

/// The README's examples are tests, too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
