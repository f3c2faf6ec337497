//! A model server on loopback: an agent is tested over HTTP, down to the byte, without a provider.
//!
//! ```
//! use protolink::testing::Reply;
//! use protolink::testing::server::ModelServer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = ModelServer::start([Reply::text("done")]).await?;
//! println!("an OpenAI-compatible server listens at {}", server.base_url());
//! assert!(server.requests().is_empty());
//! # Ok(())
//! # }
//! ```

mod anthropic;
mod format;
mod http;
mod ollama;
mod openai;
mod reply;
mod request;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

pub use format::WireFormat;
pub use reply::ServerReply;
pub use request::ServerRequest;

/// A server on a free port of this machine that speaks as OpenAI's chat, Anthropic and Ollama do.
///
/// It gives the replies of a script, one a request, each in the format in which it is asked: whole, or as a stream. It
/// keeps every request as it came over the wire. Dropping it ends it.
///
/// ```
/// use protolink::testing::Reply;
/// use protolink::testing::server::{ModelServer, ServerReply};
/// # #[cfg(feature = "genai-http")]
/// use protolink::model::GenaiModel;
/// use protolink::prelude::*;
///
/// # #[cfg(feature = "genai-http")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let busy = ServerReply::status(429).header("retry-after", "0");
/// let server = ModelServer::start([busy, Reply::text("done").into()]).await?;
/// let agent =
///     Agent::builder("a").model(GenaiModel::new("any").base_url(server.base_url())).build()?;
///
/// assert_eq!(agent.invoke("go").await?.text(), "done");
/// assert_eq!(server.requests().len(), 2);
/// assert_eq!(server.requests()[1].json()["messages"][0]["content"], "go");
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "genai-http"))]
/// # fn main() {}
/// ```
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    script: Script,
    state: Mutex<State>,
}

enum Script {
    List(Vec<ServerReply>),
    Function(Box<dyn Fn(&ServerRequest) -> ServerReply + Send + Sync>),
}

#[derive(Default)]
struct State {
    requests: Vec<ServerRequest>,
    calls: usize,
}

impl ModelServer {
    /// Starts a server that gives these replies in order; a [`Reply`](super::Reply) is one too. When they are used up, it
    /// refuses.
    ///
    /// # Errors
    /// Where the machine gives no port.
    pub async fn start<R: Into<ServerReply>>(replies: impl IntoIterator<Item = R>) -> io::Result<Self> {
        Self::of(Script::List(replies.into_iter().map(Into::into).collect())).await
    }

    /// Starts a server that makes its reply of the request.
    ///
    /// ```
    /// use protolink::testing::Reply;
    /// use protolink::testing::server::ModelServer;
    /// # #[cfg(feature = "genai-http")]
    /// use protolink::model::GenaiModel;
    /// use protolink::prelude::*;
    ///
    /// # #[cfg(feature = "genai-http")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = ModelServer::from_fn(|request| {
    ///     let prompt = request.json()["messages"][0]["content"].clone();
    ///     Reply::text(format!("You said {prompt}."))
    /// })
    /// .await?;
    /// let agent =
    ///     Agent::builder("a").model(GenaiModel::new("any").base_url(server.base_url())).build()?;
    /// assert_eq!(agent.invoke("hello").await?.text(), "You said \"hello\".");
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "genai-http"))]
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// Where the machine gives no port.
    pub async fn from_fn<R: Into<ServerReply>>(
        reply: impl Fn(&ServerRequest) -> R + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::of(Script::Function(Box::new(move |request| reply(request).into()))).await
    }

    async fn of(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { script, state: Mutex::default() });
        let task = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, task })
    }

    /// `http://127.0.0.1:<port>`: what Ollama's own format is asked at.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `http://127.0.0.1:<port>/v1`: the base URL for the formats of OpenAI and Anthropic.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far, as they came over the wire.
    #[must_use]
    pub fn requests(&self) -> Vec<ServerRequest> {
        self.shared.state().requests.clone()
    }
}

impl Shared {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // A reply function that panicked has left nothing half done here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is written in reply to a request.
    fn answer(&self, request: &ServerRequest) -> ServerReply {
        let turn = {
            let mut state = self.state();
            state.requests.push(request.clone());
            state.requests.len() - 1
        };
        let reply = match &self.script {
            Script::List(replies) => replies.get(turn).cloned().unwrap_or_else(used_up),
            Script::Function(reply) => reply(request),
        };
        reply.spoken_to(request, &mut self.state().calls)
    }
}

fn used_up() -> ServerReply {
    ServerReply::status(400).json(json!({ "error": { "message": "the script has no more replies" } }))
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((connection, _)) = listener.accept().await {
        connections.spawn(converse(connection, Arc::clone(&shared)));
        while connections.try_join_next().is_some() {}
    }
}

/// Answers the requests of one connection. A client that hangs up, or sends no HTTP, ends it.
async fn converse(mut connection: TcpStream, shared: Arc<Shared>) {
    let _ = connection.set_nodelay(true);
    let mut unread = Vec::new();
    while let Ok(Some(request)) = http::read(&mut connection, &mut unread).await {
        match http::write(&mut connection, shared.answer(&request)).await {
            Ok(true) => {}
            Ok(false) | Err(_) => return,
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for ModelServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelServer").field("address", &self.address).finish_non_exhaustive()
    }
}
