//! An agent as a tool of the Model Context Protocol: any client can ask it, another agent among them.
//!
//! ```text
//! cargo run --example agent_as_mcp_tool --features mcp
//! ```
//! Started by itself it waits for a client on its standard input; `mcp_tools` is one, and starts it.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, ServiceExt};
use serde_json::json;

/// Look a word up in the archive.
#[tool]
fn look_up(word: String) -> Vec<String> {
    let archive = ["the red lamp of 1931", "the desk lamp of 1957"];
    let found = archive.into_iter().filter(move |entry| entry.contains(word.as_str()));
    found.map(str::to_owned).collect()
}

/// The agent that is offered. What its own tools gave back stays inside; only its checked answer leaves.
#[before_complete]
fn cite(response: &mut FinalResponse<'_>) -> Result<(), &'static str> {
    let sources = response.receipts().len();
    if sources == 0 {
        return Err("nothing was looked up");
    }
    let answer = format!("{} [{sources} source(s)]", response.text().unwrap_or_default());
    response.set_text(answer);
    Ok(())
}

fn archivist() -> Result<Agent, protolink::BuildError> {
    // A script stands for the model, so that the example runs without a key.
    let model = ScriptedModel::from_fn(|request| match request.messages.len() {
        1 => Reply::call("look_up", json!({ "word": "lamp" })),
        _ => Reply::text("There are two lamps in the archive."),
    });
    Agent::builder("archivist").model(model).tools(tools![look_up]).hooks(hooks![cite]).build()
}

/// One agent, served as the tool `ask_archivist`.
struct Served(Agent);

impl ServerHandler for Served {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("archive", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({
            "type": "object",
            "properties": { "question": { "type": "string", "description": "What to find out." } },
            "required": ["question"],
        });
        let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
        Ok(ListToolsResult::with_all_items(vec![Tool::new("ask_archivist", "Asks the keeper of the archive.", schema)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let Some(question) = arguments.get("question").and_then(|question| question.as_str()) else {
            return Err(ErrorData::invalid_params("`question` must be a text", None));
        };
        // A client that stops waiting stops the run, too.
        let run = self.0.run(question).cancel(context.ct.clone()).await;
        let result = match run {
            Ok(outcome) => match outcome.answer() {
                Some(answer) => CallToolResult::success(vec![ContentBlock::text(answer.text())]),
                None => CallToolResult::error(vec![ContentBlock::text("the archivist waits for a person")]),
            },
            // The error's text names the hook or the tool, and holds nothing of their content.
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        };
        Ok(result.into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Served(archivist()?).serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
