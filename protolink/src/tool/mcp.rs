//! Tools of a Model Context Protocol server (feature `mcp`).

mod connect;
mod connection;
mod error;
mod listed;
mod result;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

pub use connect::McpConnect;
use connection::Connection;
pub use error::McpError;
use listed::{Listed, Selection};

use super::dynamic::DynTool;
use super::error::ToolError;

/// The tools of one MCP server, as it listed them: a list that never changes by itself.
///
/// They are registered like any tool that is made at run time, and everything that holds for a tool holds for them:
/// hooks, filtering, policy, budget, receipts, resume.
///
/// ```no_run
/// use protolink::McpTools;
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let mut command = std::process::Command::new("npx");
/// command.args(["-y", "@modelcontextprotocol/server-filesystem", "/srv/documents"]);
/// let files = McpTools::child_process(command)
///     .prefix("fs_")
///     .filter(|name| name != "write_file")
///     .await?;
///
/// let agent = Agent::builder("librarian")
///     .model(ScriptedModel::new([Reply::text("done")]))
///     .dyn_tools(files.tools().map(|tool| tool.capability("files.read")))
///     .policy(CapabilityPolicy::new().require_approval("files.read"))
///     .build()?;
/// # let _ = agent;
/// # Ok(())
/// # }
/// ```
///
/// # What a server can and cannot do
/// A server's text is data. Names, descriptions and schemas are checked when they are listed, and are a part of the
/// agent's fingerprint: a tool that vanished, or whose description changed, between a pause and its resume is a contract
/// change that the resume says in words. What a server announces later ([`changed`](Self::changed)) changes no agent:
/// [`list_again`](Self::list_again) gives a new list, of which a new agent is built. The server's own instructions,
/// its annotations (`readOnlyHint` and the like) and its requests to sample from a model are not taken up; what may run
/// is the policy's to say, and whether a tool is idempotent the application's.
///
/// # What is refused, and what is mended
/// - Two tools of one name, a name longer than 64 characters, a schema that is not that of an object or is nested deeper
///   than [`MAX_DEPTH`](crate::MAX_DEPTH), a description above 32 KiB, a schema above 256 KiB, more than 1000 tools:
///   [`McpError`], which names the tool. The filter is asked first, so that one bad tool need not cost the others.
/// - Characters that providers refuse in a name become `_`; the server is still called by its own name for the tool.
///   A schema without `type` gets `"type": "object"`. References in a schema are never resolved.
/// - An answer that comes late, twice, or under an id that was not asked for is dropped. A line that is not JSON, or not
///   UTF-8, is dropped too: the call it may have answered runs into its timeout.
///
/// # What a call gives
/// - `structuredContent` is the result as it is. Without it, one text is that text, no content is `null`, and several
///   pieces are a list of objects with a `type`.
/// - A result that the server marks as an error is told to the model as the failure of that call.
/// - Images, audio and other bytes are refused: the model is told what came and that it cannot see it. An application
///   that can do better says how, by [`on_media`](McpConnect::on_media).
/// - Refused arguments and unknown tools are a correction that counts. A call whose answer never came (timeout, lost
///   connection, an answer that is no result) fails the run and stays uncertain, since its effect may have happened: see
///   [`ToolError::Uncertain`].
#[derive(Debug, Clone)]
pub struct McpTools {
    connection: Arc<Connection>,
    selection: Arc<Selection>,
    listed: Arc<[Listed]>,
    /// How often the server had announced a change when this list was asked for.
    version: u64,
}

impl McpTools {
    async fn list(connection: Arc<Connection>, selection: Arc<Selection>) -> Result<Self, McpError> {
        let version = connection.announced();
        let tools = connection.list().await?;
        let listed = selection.take(connection.server(), tools)?;
        Ok(Self { connection, selection, listed: listed.into(), version })
    }

    /// The tools, ready to be registered by [`dyn_tools`](crate::AgentBuilder::dyn_tools).
    pub fn tools(&self) -> impl Iterator<Item = DynTool> + '_ {
        self.listed.iter().map(|listed| self.tool(listed))
    }

    /// What the server says its name is, or how it was reached.
    #[must_use]
    pub fn server(&self) -> &str {
        self.connection.server()
    }

    /// Waits until the server announces that its list is no longer this one (`tools/list_changed`).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # use serde_json::json;
    /// # use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
    /// use protolink::McpTools;
    /// # async fn clock_server(stream: DuplexStream) -> std::io::Result<()> {
    /// #     let (reader, mut writer) = tokio::io::split(stream);
    /// #     let mut lines = BufReader::new(reader).lines();
    /// #     while let Some(line) = lines.next_line().await? {
    /// #         let request: serde_json::Value = serde_json::from_str(&line)?;
    /// #         let Some(id) = request.get("id") else { continue };
    /// #         let result = match request["method"].as_str() {
    /// #             Some("initialize") => json!({
    /// #                 "protocolVersion": request["params"]["protocolVersion"],
    /// #                 "capabilities": { "tools": { "listChanged": true } },
    /// #                 "serverInfo": { "name": "clock", "version": "1" },
    /// #             }),
    /// #             Some("tools/list") => json!({ "tools": [{ "name": "now", "inputSchema": { "type": "object" } }] }),
    /// #             _ => json!({ "content": [{ "type": "text", "text": "noon" }] }),
    /// #         };
    /// #         let mut reply = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    /// #         if request["method"] == "tools/list" {
    /// #             reply.push_str("\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    /// #         }
    /// #         writer.write_all(format!("{reply}\n").as_bytes()).await?;
    /// #     }
    /// #     Ok(())
    /// # }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (ours, theirs) = tokio::io::duplex(4096);
    /// # let server = tokio::spawn(clock_server(theirs));
    /// # let (reader, writer) = tokio::io::split(ours);
    /// let clock = McpTools::connect(reader, writer).await?;
    /// clock.changed().await?;
    /// let changed = clock.list_again().await?; // a new agent is built of it
    /// assert_eq!(changed.tools().count(), 1);
    /// clock.close().await;
    /// # drop(server);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`McpError::Closed`] when the connection ends before that.
    pub async fn changed(&self) -> Result<(), McpError> {
        self.connection.announced_after(self.version).await
    }

    /// Whether the server has announced that its list is no longer this one.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.connection.announced() > self.version
    }

    /// Asks for the list once more, over the same connection and under the same prefix and filter. Agents that were
    /// built of this list keep it.
    ///
    /// # Errors
    /// [`McpError`], as when connecting.
    pub async fn list_again(&self) -> Result<Self, McpError> {
        Self::list(Arc::clone(&self.connection), Arc::clone(&self.selection)).await
    }

    /// Ends the connection, and waits until a child process has ended. Calls in flight fail; so does every later one.
    /// Without it, the connection ends when the last tool is dropped.
    pub async fn close(&self) {
        self.connection.close().await;
    }

    fn tool(&self, listed: &Listed) -> DynTool {
        let (connection, remote) = (Arc::clone(&self.connection), listed.remote.clone());
        let tool =
            DynTool::new(&*listed.name, &*listed.description, listed.schema.clone(), move |arguments, _context| {
                let (connection, remote) = (Arc::clone(&connection), remote.clone());
                async move { connection.call(remote, arguments).await }
            });
        match &listed.output_schema {
            Some(schema) => tool.output_schema(schema.clone()),
            None => tool,
        }
    }
}

/// An image, a piece of audio, or other bytes in a tool's result, as an application's handler gets it.
///
/// ```
/// use protolink::{McpMedia, McpTools, ToolError};
/// use serde_json::{Value, json};
///
/// /// Says that a picture is there, and refuses anything else.
/// fn described(media: McpMedia) -> Result<Value, ToolError> {
///     match media.kind {
///         "image" => Ok(json!({ "picture": media.media_type, "bytes": media.base64.len() / 4 * 3 })),
///         other => Err(ToolError::reported(format!("`{}` gave {other}, which nobody can hear", media.tool))),
///     }
/// }
/// # drop(
/// McpTools::http("https://tickets.example.com/mcp").on_media(described)
/// # );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpMedia {
    /// The tool, by its name in the agent's roster.
    pub tool: String,
    /// What it is: `image`, `audio` or `resource`.
    pub kind: &'static str,
    /// The IANA media type, where the server says it.
    pub media_type: String,
    /// The bytes, in standard base64.
    pub base64: String,
}

/// Turns media into what the result holds in its place.
type OnMedia = dyn Fn(McpMedia) -> Result<Value, ToolError> + Send + Sync;

/// How long the server may take for each answer, where nothing else is said.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
