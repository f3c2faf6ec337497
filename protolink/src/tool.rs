//! Tools: what the model can ask for, and how the application's functions become that.
//!
//! ```
//! use protolink::prelude::*;
//! use protolink::testing::ScriptedModel;
//! use protolink::{DynTool, ToolError};
//! use serde_json::json;
//!
//! /// Search the catalogue.
//! #[tool]
//! fn search(
//!     /// What to look for.
//!     query: String,
//! ) -> Vec<String> {
//!     vec![format!("a lamp for {query}")]
//! }
//!
//! // Known at run time only: from a configuration, a plugin, an MCP server.
//! let schema = json!({ "type": "object" });
//! let noon = DynTool::new("noon", "Tell the time.", schema, |_arguments, _context| async {
//!     Ok::<_, ToolError>("noon")
//! });
//! let agent = Agent::builder("a")
//!     .model(ScriptedModel::new([]))
//!     .tools(tools![search])
//!     .dyn_tool(noon)
//!     .build()?;
//! let tools = agent.config().tools;
//! assert_eq!((tools[0].name(), tools[1].name()), ("search", "noon"));
//! # Ok::<(), protolink::BuildError>(())
//! ```

mod ask_user;
mod definition;
mod dynamic;
mod error;
#[cfg(feature = "mcp-http")]
mod mcp;
mod output;
mod schema;
mod spec;
mod typed;

pub(crate) use ask_user::{ASK_USER, ask_user_tool, question};
pub(crate) use definition::{BoundTool, ToolCode, ToolRuns};
pub use definition::{OnError, Tool, ToolContext, ToolDefinition, ToolFor, ToolInput};
pub use dynamic::DynTool;
#[doc(hidden)]
pub use error::ToolFailure;
pub use error::{IntoToolFailure, ToolError};
#[cfg(feature = "mcp-http")]
pub use mcp::{McpConnect, McpError, McpMedia, McpTools};
pub use output::ToolValue;
#[doc(hidden)]
pub use output::{OutputKind, PlainOutput, ToolOutput, into_tool_result};
pub use spec::ToolSpec;
pub(crate) use spec::is_valid_tool_name;
#[doc(hidden)]
pub use typed::{
    AnArgument, ArgumentsSchema, FromCall, NoOutputSchema, OutputSchema, Taken, ToolCall, ToolParameterKind,
    ToolParameters, check_names, fits,
};
pub use typed::{DefaultParameter, ToolParameter, UnnamedParameter};
