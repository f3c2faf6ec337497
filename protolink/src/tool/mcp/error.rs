//! What can go wrong with an MCP server.

use std::io;
use std::time::Duration;

use crate::hook::BoxError;

/// Why an MCP server's tools cannot be had, or a call of one gave nothing.
///
/// A failed call carries it as the `source` of [`Error::Tool`](crate::Error::Tool). No text of it holds arguments or
/// results; what the server itself says about a failure is in it, cut to 2000 characters.
///
/// ```
/// use protolink::{McpError, McpTools};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let missing = McpTools::child_process(std::process::Command::new("no-such-server")).await;
/// assert!(matches!(missing, Err(McpError::Start { server, .. }) if server == "no-such-server"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// The child process could not be started.
    #[error("the MCP server `{server}` could not be started")]
    Start {
        /// The program.
        server: String,
        /// Why.
        source: io::Error,
    },
    /// The server was not reached, or did not agree on a session.
    #[error("there is no session with the MCP server `{server}`")]
    Connect {
        /// How it was to be reached.
        server: String,
        /// Why.
        source: BoxError,
    },
    /// The server did not answer in time.
    #[error("the MCP server `{server}` did not answer `{request}` within {after:?}")]
    TimedOut {
        /// The server.
        server: String,
        /// What it was asked: a method, or a tool.
        request: String,
        /// The deadline.
        after: Duration,
    },
    /// The connection ended.
    #[error("the connection to the MCP server `{server}` ended before it answered `{request}`")]
    Closed {
        /// The server.
        server: String,
        /// What it was asked: a method, or a tool.
        request: String,
    },
    /// The server said no.
    #[error("the MCP server `{server}` refused `{request}`: {message} (code {code})")]
    Refused {
        /// The server.
        server: String,
        /// What it was asked: a method, or a tool.
        request: String,
        /// Its JSON-RPC error code.
        code: i32,
        /// What it says.
        message: String,
    },
    /// The server's answer is none to what it was asked.
    #[error("what the MCP server `{server}` answered to `{request}` is no answer to that: {reason}")]
    Unreadable {
        /// The server.
        server: String,
        /// What it was asked: a method, or a tool.
        request: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A tool says that it failed; the model is told.
    #[error("{message}")]
    Failed {
        /// The tool, by its name on the server.
        tool: String,
        /// What it says.
        message: String,
    },
    /// A tool gave an image, audio or other bytes, and no handler says what becomes of them; the model is told.
    #[error(
        "the tool was run, and gave content that cannot be shown: {kind} of the type `{media_type}`, {bytes} bytes of base64"
    )]
    Media {
        /// The tool, by its name in the agent's roster.
        tool: String,
        /// What it is: `image`, `audio` or `resource`.
        kind: &'static str,
        /// The IANA media type, where the server says it.
        media_type: String,
        /// The length in bytes of base64.
        bytes: usize,
    },
    /// Two listed tools have one name, after prefix and mending.
    #[error("the MCP server `{server}` lists two tools of the name `{tool}`")]
    DuplicateTool {
        /// The server.
        server: String,
        /// The name.
        tool: String,
    },
    /// A listed tool has a name that no provider takes.
    #[error("the MCP server `{server}` lists a tool whose name `{tool}` is empty or longer than 64 characters")]
    ToolName {
        /// The server.
        server: String,
        /// The name, after prefix and mending, cut to 100 characters.
        tool: String,
    },
    /// The schema of a listed tool is not that of an object.
    #[error("the MCP server `{server}` lists the tool `{tool}` with a schema that {reason}")]
    ToolSchema {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A part of the list is larger than anybody would send to a model.
    #[error("the MCP server `{server}` lists {what} of {size}, and the limit is {limit}")]
    TooLarge {
        /// The server.
        server: String,
        /// Which part.
        what: String,
        /// How large it is.
        size: usize,
        /// The limit.
        limit: usize,
    },
}

/// A server's own words, cut so that an error stays readable.
pub(super) fn cut(text: &str) -> String {
    const LIMIT: usize = 2000;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{} ..", &text[..end]),
        None => text.to_owned(),
    }
}
