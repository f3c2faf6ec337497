//! A session with a server: what it is asked, and what it announces.

use std::fmt;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest, ErrorCode,
    Implementation, JsonObject, ListToolsRequest, PaginatedRequestParams, ServerResult, Tool,
};
use rmcp::service::{NotificationContext, Peer, RunningService, ServiceError, ServiceExt};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, RoleClient};
use serde_json::Value;
use tokio::sync::{Mutex, watch};

use super::error::{McpError, cut};
use super::listed::{MAX_TOOLS, Remote, what_is_wrong_with};
use super::result::into_value;
use crate::hook::BoxFuture;
use crate::tool::ToolError;

/// Counts what the server announces, and answers nothing that the server asks.
struct Announcements {
    lists: watch::Sender<u64>,
}

impl ClientHandler for Announcements {
    fn get_info(&self) -> ClientConfig {
        let this = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), this)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.lists.send_modify(|count| *count += 1);
    }
}

/// A session; it ends when it is dropped.
pub(super) struct Connection {
    server: String,
    timeout: Duration,
    peer: Peer<RoleClient>,
    announced: watch::Receiver<u64>,
    service: Mutex<Option<RunningService<RoleClient, Announcements>>>,
}

/// Agrees on a session.
pub(super) async fn open<T>(transport: T, place: String, timeout: Duration) -> Result<Connection, McpError>
where
    T: Transport<RoleClient> + 'static,
{
    let (lists, announced) = watch::channel(0);
    let session: BoxFuture<'static, _> = Box::pin(Announcements { lists }.serve(transport));
    let service = match tokio::time::timeout(timeout, session).await {
        Err(_) => {
            let request = "initialize".to_owned();
            return Err(McpError::TimedOut { server: place, request, after: timeout });
        }
        Ok(Err(error)) => return Err(McpError::Connect { server: place, source: Box::new(error) }),
        Ok(Ok(service)) => service,
    };
    let peer = service.peer().clone();
    let named = peer.peer_info().and_then(|info| info.server_info.as_ref().map(|server| server.name.clone()));
    let server = named.filter(|name| !name.is_empty()).map_or(place, |name| name.chars().take(100).collect());
    Ok(Connection { server, timeout, peer, announced, service: Mutex::new(Some(service)) })
}

impl Connection {
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// How often the server announced another list.
    pub(super) fn announced(&self) -> u64 {
        *self.announced.borrow()
    }

    pub(super) async fn announced_after(&self, version: u64) -> Result<(), McpError> {
        let mut announced = self.announced.clone();
        match announced.wait_for(|count| *count > version).await {
            Ok(_) => Ok(()),
            Err(_) => Err(self.closed("notifications/tools/list_changed")),
        }
    }

    pub(super) async fn close(&self) {
        if let Some(service) = self.service.lock().await.take() {
            // How the other side took it changes nothing any more.
            let _ = service.cancel().await;
        }
    }

    /// Every tool that the server lists, page by page. What it listed before is not kept, and not used.
    pub(super) async fn list(&self) -> Result<Vec<Tool>, McpError> {
        const REQUEST: &str = "tools/list";
        let mut tools = Vec::new();
        let mut cursor = None;
        loop {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page));
            let answer = tokio::time::timeout(self.timeout, self.ask(request)).await;
            let answer = answer.map_err(|_| self.timed_out(REQUEST))?;
            let page = match answer.map_err(|error| self.failed(REQUEST, error))? {
                ServerResult::ListToolsResult(page) => page,
                other => return Err(self.unreadable_list(REQUEST, &other)),
            };
            let no_progress = page.tools.is_empty() && page.next_cursor.is_some();
            tools.extend(page.tools);
            if tools.len() > MAX_TOOLS || no_progress {
                let (server, what, size) = (self.server.clone(), "a number of tools".to_owned(), tools.len());
                return Err(McpError::TooLarge { server, what, size, limit: MAX_TOOLS });
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
    }

    // Boxed, since the compiler cannot see that a future which borrows the peer moves between threads.
    fn ask(&self, request: ClientRequest) -> BoxFuture<'static, Result<ServerResult, ServiceError>> {
        let peer = self.peer.clone();
        Box::pin(async move { peer.send_request(request).await })
    }

    /// Calls a tool.
    pub(super) async fn call(&self, remote: Remote, arguments: Value) -> Result<Value, ToolError> {
        let name = remote.name.clone();
        if self.peer.is_transport_closed() {
            // Nothing was sent, so nothing happened.
            return Err(ToolError::failed(self.closed(&name)));
        }
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => JsonObject::new(),
        };
        let request = CallToolRequestParams::new(name.clone()).with_arguments(arguments);
        let peer = self.peer.clone();
        let call: BoxFuture<'static, _> = Box::pin(async move { peer.call_tool_once(request).await });
        let Ok(answer) = tokio::time::timeout(self.timeout, call).await else {
            return Err(ToolError::uncertain(self.timed_out(&name)));
        };
        match answer {
            Ok(CallToolResponse::Complete(result)) => into_value(result, &remote),
            Ok(_) => Err(ToolError::uncertain(self.unreadable(&name, "it asks for input, or speaks of a task"))),
            Err(ServiceError::McpError(error)) => {
                let refused = self.failed(&name, ServiceError::McpError(error.clone()));
                // The codes that say that nothing was done: the tool is not there, or its arguments do not fit.
                Err(match error.code {
                    ErrorCode::INVALID_PARAMS | ErrorCode::METHOD_NOT_FOUND => ToolError::rejected(refused.to_string()),
                    _ => ToolError::reported(refused),
                })
            }
            Err(error) => Err(ToolError::uncertain(self.failed(&name, error))),
        }
    }

    fn timed_out(&self, request: &str) -> McpError {
        McpError::TimedOut { server: self.server.clone(), request: request.to_owned(), after: self.timeout }
    }

    fn closed(&self, request: &str) -> McpError {
        McpError::Closed { server: self.server.clone(), request: request.to_owned() }
    }

    fn unreadable(&self, request: &str, reason: impl Into<String>) -> McpError {
        McpError::Unreadable { server: self.server.clone(), request: request.to_owned(), reason: reason.into() }
    }

    fn failed(&self, request: &str, error: ServiceError) -> McpError {
        match error {
            ServiceError::McpError(error) => McpError::Refused {
                server: self.server.clone(),
                request: request.to_owned(),
                code: error.code.0,
                message: cut(&error.message),
            },
            ServiceError::UnexpectedResponse => self.unreadable(request, "it has another shape"),
            ServiceError::TransportSend(error) => self.unreadable(request, cut(&error.to_string())),
            _ => self.closed(request),
        }
    }

    fn unreadable_list(&self, request: &str, answer: &ServerResult) -> McpError {
        match answer {
            // One tool of a shape that is not MCP's makes the whole list unreadable; say which.
            ServerResult::CustomResult(list) => match what_is_wrong_with(&list.0) {
                Some((tool, reason)) => McpError::ToolSchema { server: self.server.clone(), tool, reason },
                None => self.unreadable(request, "it is no list of tools"),
            },
            _ => self.unreadable(request, "it is no list of tools"),
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("server", &self.server).finish_non_exhaustive()
    }
}
