//! How a server is reached, and what is taken of it.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::child_process::TokioChildProcess;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Command;

use super::connection::open;
use super::error::McpError;
use super::listed::Selection;
use super::{DEFAULT_TIMEOUT, McpMedia, McpTools};
use crate::hook::BoxFuture;
use crate::tool::ToolError;

/// Where the server is.
enum Place {
    Process(Command),
    Http { url: String, token: Option<String> },
    Streams(Box<dyn AsyncRead + Send + Unpin>, Box<dyn AsyncWrite + Send + Unpin>),
}

/// A connection to an MCP server that is not made yet; awaiting it makes it, and lists the tools.
///
/// ```
/// use protolink::McpTools;
/// use std::time::Duration;
///
/// let tickets = McpTools::http("https://tickets.example.com/mcp")
///     .bearer_token("..")
///     .prefix("tickets_")
///     .filter(|name| !name.starts_with("delete"))
///     .timeout(Duration::from_secs(20))
///     .on_media(|media| Ok(format!("a picture of the type {}", media.media_type).into()));
/// // `tickets.await?` connects, and lists the tools.
/// # drop(tickets);
/// ```
///
/// # Errors
/// Awaiting it gives [`McpError`] when the server cannot be reached, or lists what cannot be taken.
#[must_use = "nothing is connected until it is awaited"]
pub struct McpConnect {
    place: Place,
    timeout: Duration,
    selection: Selection,
}

impl McpTools {
    /// Starts a server as a child process that speaks over its standard input and output. Its standard error is the
    /// application's. It ends with the connection, or with the runtime that it was started in.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), protolink::McpError> {
    /// let clock =
    ///     protolink::McpTools::child_process(std::process::Command::new("mcp-server-time")).await?;
    /// # let _ = clock;
    /// # Ok(())
    /// # }
    /// ```
    pub fn child_process(command: impl Into<Command>) -> McpConnect {
        McpConnect::new(Place::Process(command.into()))
    }

    /// Reaches a server over streamable HTTP.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), protolink::McpError> {
    /// let tickets =
    ///     protolink::McpTools::http("https://tickets.example.com/mcp").bearer_token("..").await?;
    /// # let _ = tickets;
    /// # Ok(())
    /// # }
    /// ```
    pub fn http(url: impl Into<String>) -> McpConnect {
        McpConnect::new(Place::Http { url: url.into(), token: None })
    }

    /// Reaches a server over any pair of streams, one message a line: a socket, a pipe, a server in this process.
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
    /// let (ours, theirs) = tokio::io::duplex(4096);
    /// let server = tokio::spawn(clock_server(theirs));
    /// let (reader, writer) = tokio::io::split(ours);
    /// let clock = McpTools::connect(reader, writer).await?;
    ///
    /// let agent = Agent::builder("a").model(ScriptedModel::new([])).dyn_tools(clock.tools()).build()?;
    /// assert_eq!(agent.call_tool("now", json!({})).await?, "noon");
    /// # drop(server);
    /// # Ok(())
    /// # }
    /// ```
    pub fn connect(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> McpConnect {
        McpConnect::new(Place::Streams(Box::new(reader), Box::new(writer)))
    }
}

impl McpConnect {
    fn new(place: Place) -> Self {
        Self { place, timeout: DEFAULT_TIMEOUT, selection: Selection::default() }
    }

    /// Puts this before the name of every tool, so that the tools of two servers do not collide.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.selection.prefix = prefix.into();
        self
    }

    /// Takes only the tools whose name on the server passes. It is asked before anything of a tool is checked.
    pub fn filter(mut self, keep: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.selection.keep = Box::new(keep);
        self
    }

    /// How long the server may take for each answer: the session, each page of the list, each call. One minute, unless
    /// said otherwise. A call that takes longer is uncertain, and the server is told that nobody waits any more.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The token that is sent as `Authorization: Bearer ..`, over HTTP; it means nothing elsewhere.
    pub fn bearer_token(mut self, bearer: impl Into<String>) -> Self {
        if let Place::Http { token, .. } = &mut self.place {
            *token = Some(bearer.into());
        }
        self
    }

    /// Says what stands in a result for an image, a piece of audio or other bytes: a text that describes it, the address
    /// where it was put. Without a handler such a result is refused, see [`McpError::Media`].
    pub fn on_media(mut self, handler: impl Fn(McpMedia) -> Result<Value, ToolError> + Send + Sync + 'static) -> Self {
        self.selection.on_media = Some(Arc::new(handler));
        self
    }

    async fn go(self) -> Result<McpTools, McpError> {
        let Self { place, timeout, selection } = self;
        let connection = match place {
            Place::Process(command) => {
                let server = command.as_std().get_program().to_string_lossy().into_owned();
                match TokioChildProcess::new(command) {
                    Ok(process) => open(process, server, timeout).await?,
                    Err(source) => return Err(McpError::Start { server, source }),
                }
            }
            Place::Http { url, token } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(Arc::<str>::from(&*url));
                config.auth_header = token;
                open(StreamableHttpClientTransport::from_config(config), url, timeout).await?
            }
            Place::Streams(reader, writer) => {
                open(AsyncRwTransport::new_client(reader, writer), "a stream".to_owned(), timeout).await?
            }
        };
        McpTools::list(Arc::new(connection), Arc::new(selection)).await
    }
}

impl IntoFuture for McpConnect {
    type Output = Result<McpTools, McpError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.go())
    }
}

impl fmt::Debug for McpConnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may hold a secret, and so may a command's arguments.
        f.debug_struct("McpConnect").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}
