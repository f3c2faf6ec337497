//! What is taken of a server's list: checked, and mended where that loses nothing.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use serde_json::Value;

use super::OnMedia;
use super::error::{McpError, cut};
use crate::tool::is_valid_tool_name;
use crate::value::{MAX_DEPTH, check_depth};

/// How many tools one server may list.
pub(super) const MAX_TOOLS: usize = 1000;
/// How long a description may be, in bytes.
const MAX_DESCRIPTION: usize = 32 * 1024;
/// How long a schema may be, in bytes of JSON.
const MAX_SCHEMA: usize = 256 * 1024;

/// What is taken, and under which names.
pub(super) struct Selection {
    pub(super) prefix: String,
    pub(super) keep: Box<dyn Fn(&str) -> bool + Send + Sync>,
    pub(super) on_media: Option<Arc<OnMedia>>,
}

impl Default for Selection {
    fn default() -> Self {
        Self { prefix: String::new(), keep: Box::new(|_| true), on_media: None }
    }
}

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// A tool as the server knows it, and what becomes of its media.
#[derive(Clone)]
pub(super) struct Remote {
    /// Its name on the server.
    pub(super) name: String,
    /// Its name in the roster.
    pub(super) local: Arc<str>,
    pub(super) on_media: Option<Arc<OnMedia>>,
}

/// A tool of the list, as it is registered.
pub(super) struct Listed {
    pub(super) name: Arc<str>,
    pub(super) description: String,
    pub(super) schema: Value,
    pub(super) output_schema: Option<Value>,
    pub(super) remote: Remote,
}

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Selection {
    pub(super) fn take(&self, server: &str, tools: Vec<Tool>) -> Result<Vec<Listed>, McpError> {
        let mut names = HashSet::new();
        let mut taken = Vec::with_capacity(tools.len());
        for tool in tools.into_iter().filter(|tool| (self.keep)(&tool.name)) {
            let listed = self.check(server, tool)?;
            if !names.insert(Arc::clone(&listed.name)) {
                return Err(McpError::DuplicateTool { server: server.to_owned(), tool: listed.name.to_string() });
            }
            taken.push(listed);
        }
        Ok(taken)
    }

    fn check(&self, server: &str, tool: Tool) -> Result<Listed, McpError> {
        let name = mended_name(&self.prefix, &tool.name);
        if !is_valid_tool_name(&name) || tool.name.is_empty() {
            let tool = name.chars().take(100).collect();
            return Err(McpError::ToolName { server: server.to_owned(), tool });
        }
        let too_large = |what: &str, size, limit| {
            let what = format!("{what} of the tool `{name}`");
            McpError::TooLarge { server: server.to_owned(), what, size, limit }
        };
        let description = tool.description.map(std::borrow::Cow::into_owned).unwrap_or_default();
        if description.len() > MAX_DESCRIPTION {
            return Err(too_large("a description", description.len(), MAX_DESCRIPTION));
        }
        let bad_schema = |reason| McpError::ToolSchema { server: server.to_owned(), tool: name.clone(), reason };
        let schema = mended_schema(tool.input_schema).map_err(bad_schema)?;
        let output_schema = tool.output_schema.map(|schema| Value::Object(unshared(schema)));
        for schema in std::iter::once(&schema).chain(&output_schema) {
            check_depth(schema).map_err(|_| bad_schema(TOO_DEEP))?;
            let size = schema.to_string().len();
            if size > MAX_SCHEMA {
                return Err(too_large("a schema", size, MAX_SCHEMA));
            }
        }
        let name: Arc<str> = name.into();
        let remote = Remote { name: tool.name.into_owned(), local: Arc::clone(&name), on_media: self.on_media.clone() };
        Ok(Listed { name, description, schema, output_schema, remote })
    }
}

/// The name as providers take it: what they refuse becomes `_`.
fn mended_name(prefix: &str, name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    prefix.chars().chain(name.chars()).map(|c| if allowed(c) { c } else { '_' }).collect()
}

const NO_OBJECT: &str = "is not that of an object";
const TOO_DEEP: &str = "is nested too deep";
const _: () = assert!(MAX_DEPTH < 128, "the parser's own limit comes first");

fn mended_schema(schema: Arc<JsonObject>) -> Result<Value, &'static str> {
    let mut schema = unshared(schema);
    match schema.get("type") {
        None => drop(schema.insert("type".to_owned(), "object".into())),
        Some(kind) if kind == "object" => {}
        Some(_) => return Err(NO_OBJECT),
    }
    Ok(Value::Object(schema))
}

fn unshared(schema: Arc<JsonObject>) -> JsonObject {
    Arc::try_unwrap(schema).unwrap_or_else(|shared| (*shared).clone())
}

/// The first tool of a list that is not described as MCP describes tools, and what is wrong with it.
pub(super) fn what_is_wrong_with(list: &Value) -> Option<(String, &'static str)> {
    list.get("tools")?.as_array()?.iter().find_map(|tool| {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let no_object = |schema: Option<&Value>| schema.is_some_and(|schema| !schema.is_object());
        let reason = if tool.get("inputSchema").is_none() {
            "is missing"
        } else if no_object(tool.get("inputSchema")) || no_object(tool.get("outputSchema")) {
            NO_OBJECT
        } else {
            return None;
        };
        Some((cut(name).chars().take(100).collect(), reason))
    })
}
