//! A request as it came over the wire.

use serde_json::Value;

use super::format::WireFormat;

/// A request as it came over the wire.
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
/// let server = ModelServer::start([Reply::text("done")]).await?;
/// let model = GenaiModel::new("any").base_url(server.base_url()).header("x-tenant", "acme");
/// let agent = Agent::builder("a").model(model).build()?;
/// agent.invoke("go").await?;
///
/// let request = &server.requests()[0];
/// assert_eq!(
///     (request.method.as_str(), request.path.as_str()),
///     ("POST", "/v1/chat/completions")
/// );
/// assert_eq!(request.header("X-Tenant"), Some("acme"));
/// assert!(!request.wants_stream() && request.tool_names().is_empty());
/// assert_eq!(request.json()["model"], "any");
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "genai-http"))]
/// # fn main() {}
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerRequest {
    /// The method, `POST` for example.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers in their order, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The bytes of the body.
    pub body: Vec<u8>,
}

impl ServerRequest {
    /// The body as JSON; `null` where it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The value of a header, whatever the case of its name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The format in which it is asked; it shows by the path.
    #[must_use]
    pub fn format(&self) -> WireFormat {
        WireFormat::of_path(&self.path)
    }

    /// Whether a stream is asked for.
    #[must_use]
    pub fn wants_stream(&self) -> bool {
        match &self.json()["stream"] {
            Value::Bool(stream) => *stream,
            _ => self.format() == WireFormat::Ollama,
        }
    }

    /// The names of the tools that the model is told of.
    #[must_use]
    pub fn tool_names(&self) -> Vec<String> {
        let json = self.json();
        let tools = json["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let names = tools.iter().filter_map(|tool| tool["function"]["name"].as_str().or(tool["name"].as_str()));
        names.map(str::to_owned).collect()
    }
}
