//! What the server replies, down to the byte.

use std::time::Duration;

use serde_json::{Value, json};

use super::format::{End, Said};
use super::request::ServerRequest;
use crate::testing::reply::{Body, Reply};

/// What the server replies to one request: a [`Reply`] in the format in which it is asked, or bytes of your own.
///
/// ```
/// use protolink::testing::Reply;
/// use protolink::testing::server::ServerReply;
/// use serde_json::json;
/// use std::time::Duration;
///
/// let spoken: ServerReply = Reply::text("done").into();
/// let refused = ServerReply::status(400).json(json!({ "error": { "code": "invalid_request_error" } }));
/// let broken = ServerReply::stream(["data: {\"choices\":", "[]}\n\n"]).cut();
/// let slow = ServerReply::stream(["data: {"]).pause(Duration::from_secs(1)).piece("}\n\n");
/// let silent = ServerReply::stream(["data: {"]).then_hang();
/// let mute = ServerReply::hang();
/// let odd = ServerReply::status(200).header("content-type", "text/html").body("<p>Welcome!</p>");
/// let no_http = ServerReply::raw("SSH-2.0-OpenSSH_9.6\r\n");
/// # let _ = (spoken, refused, broken, slow, silent, mute, odd, no_http);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct ServerReply {
    content: Content,
    pub(super) ending: Ending,
}

#[derive(Debug, Clone, PartialEq)]
enum Content {
    Spoken(Box<Reply>),
    Written(Written),
}

/// A reply in bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Written {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<Part>,
    /// Whether the parts are sent as they come; a whole body is sent with its length.
    pub(super) streamed: bool,
    /// Whether the body is everything, status line and headers included.
    pub(super) raw: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Bytes(Vec<u8>),
    Pause(Duration),
}

/// What comes after the last byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The body ends as HTTP wants it.
    Proper,
    /// The connection is closed, though more was promised.
    Cut,
    /// The connection stays, and nothing comes.
    Hang,
}

impl ServerReply {
    fn written(written: Written) -> Self {
        Self { content: Content::Written(written), ending: Ending::Proper }
    }

    /// A reply of this status without a body.
    pub fn status(status: u16) -> Self {
        Self::written(Written { status, ..Written::default() })
    }

    /// A stream of these pieces, each sent for itself: where they are cut is up to you.
    pub fn stream<P: Into<Vec<u8>>>(pieces: impl IntoIterator<Item = P>) -> Self {
        let body = pieces.into_iter().map(|piece| Part::Bytes(piece.into())).collect();
        Self::written(Written { status: 200, streamed: true, body, ..Written::default() })
            .header("content-type", "text/event-stream")
    }

    /// Exactly these bytes, status line and headers included; then the connection is closed.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        let body = vec![Part::Bytes(bytes.into())];
        Self::written(Written { raw: true, body, ..Written::default() }).cut()
    }

    /// Nothing at all, while the connection stays.
    pub fn hang() -> Self {
        Self { ending: Ending::Hang, ..Self::written(Written { raw: true, ..Written::default() }) }
    }

    /// Adds a header, or replaces it. A [`Reply`] has the headers of its format.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Content::Written(written) = &mut self.content {
            let name = name.into().to_ascii_lowercase();
            written.headers.retain(|(other, _)| *other != name);
            written.headers.push((name, value.into()));
        }
        self
    }

    /// Gives it a body of JSON.
    pub fn json(self, body: impl Into<Value>) -> Self {
        self.header("content-type", "application/json").body(body.into().to_string())
    }

    /// Gives it a body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        if let Content::Written(written) = &mut self.content {
            written.body = vec![Part::Bytes(body.into())];
        }
        self
    }

    /// Waits here, after the pieces so far; [`piece`](Self::piece) goes on.
    pub fn pause(mut self, pause: Duration) -> Self {
        if let Content::Written(written) = &mut self.content {
            written.body.push(Part::Pause(pause));
        }
        self
    }

    /// Adds a piece.
    pub fn piece(mut self, piece: impl Into<Vec<u8>>) -> Self {
        if let Content::Written(written) = &mut self.content {
            written.body.push(Part::Bytes(piece.into()));
        }
        self
    }

    /// Closes the connection after the last piece, though more was promised.
    pub fn cut(mut self) -> Self {
        self.ending = Ending::Cut;
        self
    }

    /// Says nothing more after the last piece, and keeps the connection.
    pub fn then_hang(mut self) -> Self {
        self.ending = Ending::Hang;
        self
    }

    /// The reply in the words of the request's format; `calls` counts the tool calls of the server.
    pub(super) fn spoken_to(self, request: &ServerRequest, calls: &mut usize) -> Self {
        match self.content {
            Content::Spoken(reply) => speak(*reply, request, calls),
            Content::Written(_) => self,
        }
    }

    pub(super) fn into_written(self) -> (Written, Ending) {
        match self.content {
            Content::Written(written) => (written, self.ending),
            // Every reply is put into words before it is written.
            Content::Spoken(_) => (Written::default(), Ending::Cut),
        }
    }
}

impl From<Reply> for ServerReply {
    fn from(reply: Reply) -> Self {
        Self { content: Content::Spoken(Box::new(reply)), ending: Ending::Proper }
    }
}

fn speak(reply: Reply, request: &ServerRequest, numbered: &mut usize) -> ServerReply {
    let shows_first = request.wants_stream() && !reply.chunks.is_empty();
    let (chunks, mut calls, end) = match reply.body {
        Body::Text(text) if reply.chunks.is_empty() => (vec![text], Vec::new(), End::Stop),
        Body::Text(_) => (reply.chunks, Vec::new(), End::Stop),
        Body::Calls { text, calls } => (text.into_iter().chain(reply.chunks).collect(), calls, End::Calls),
        Body::Truncated(text) if reply.chunks.is_empty() => (vec![text], Vec::new(), End::Length),
        Body::Truncated(_) => (reply.chunks, Vec::new(), End::Length),
        _ if shows_first => (reply.chunks, Vec::new(), End::Broken),
        Body::Transient(message) => {
            let seconds = reply.retry_after.map(|wait| wait.as_secs().to_string());
            let failed = delayed(ServerReply::status(503), reply.delay).failing(&message, "overloaded_error");
            return seconds.into_iter().fold(failed, |failed, seconds| failed.header("retry-after", seconds));
        }
        Body::Permanent(message) => {
            return delayed(ServerReply::status(400), reply.delay).failing(&message, "invalid_request_error");
        }
        Body::Panic(_) | Body::Hang => return ServerReply::hang(),
    };
    for call in &mut calls {
        *numbered += 1;
        if let Some(id) = call.id.strip_prefix(Reply::NUMBERED) {
            call.id = format!("call_{numbered}{id}");
        }
    }
    let (said, format) = (Said { chunks, calls, usage: reply.usage, end }, request.format());
    if !request.wants_stream() {
        return delayed(ServerReply::status(200), reply.delay).also_json(&format.whole(&said));
    }
    let started = delayed(ServerReply::stream(Vec::<Vec<u8>>::new()), reply.delay);
    let streamed = format.pieces(&said).into_iter().fold(started, ServerReply::piece);
    let streamed = streamed.header("content-type", format.content_type());
    if end == End::Broken { streamed.cut() } else { streamed }
}

fn delayed(reply: ServerReply, delay: Option<Duration>) -> ServerReply {
    delay.into_iter().fold(reply, ServerReply::pause)
}

impl ServerReply {
    fn also_json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").piece(body.to_string())
    }

    fn failing(self, message: &str, kind: &str) -> Self {
        self.also_json(&json!({ "error": { "message": message, "type": kind } }))
    }
}
