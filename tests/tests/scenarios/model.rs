//! The model of a scenario: it does what its entries say, one a request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use protolink::Message;
use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest};
use protolink::{ToolCall, async_trait};
use serde_json::{Map, Value};

use crate::build::{ARTIFACT_TOOL, ARTIFACT_TOOL_THERE};
use crate::hook::as_text;
use crate::setup::ModelEntry;
use crate::world::{Entry, World};

/// A model that follows a scenario.
pub(crate) struct ScenarioModel {
    pub(crate) world: Arc<World>,
    pub(crate) script: Vec<ModelEntry>,
    pub(crate) asked: AtomicUsize,
}

impl ScenarioModel {
    pub(crate) fn new(world: Arc<World>, script: Vec<ModelEntry>) -> Self {
        Self { world, script, asked: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl Model for ScenarioModel {
    fn id(&self) -> ModelId {
        ModelId::new("scenario", "scripted")
    }

    async fn respond(
        &self,
        request: &PreparedRequest<'_>,
        chunks: &mut ChunkSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        let mut roster: Vec<String> = request.tools().iter().map(|tool| tool.name().to_owned()).collect();
        for name in &mut roster {
            if name == ARTIFACT_TOOL {
                ARTIFACT_TOOL_THERE.clone_into(name);
            }
        }
        roster.sort();
        let failed = |error: crate::not_here::NotHere| ModelError::permanent(error.to_string());
        self.world.note(&Entry::Asked { roster }).map_err(failed)?;
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let Some(entry) = self.script.get(turn) else {
            return Err(ModelError::permanent("the script has no more replies"));
        };
        match entry {
            ModelEntry::Final(content) => {
                let text = as_text(content);
                chunks.text(&text);
                Ok(ModelReply::text(text))
            }
            ModelEntry::Raw(text) => {
                chunks.text(text);
                parsed(turn, text)
            }
            ModelEntry::Call { tool, arguments } if tool == ARTIFACT_TOOL_THERE => {
                Ok(call(turn, ARTIFACT_TOOL, renamed(arguments)))
            }
            ModelEntry::Call { tool, arguments } => Ok(call(turn, tool, arguments.clone())),
            ModelEntry::ReadArtifact => {
                let Some(arguments) = how_to_read(request.messages()) else {
                    return Err(ModelError::permanent("no result was kept aside"));
                };
                Ok(call(turn, ARTIFACT_TOOL, arguments))
            }
            ModelEntry::Transient(message) => Err(ModelError::transient(message)),
            ModelEntry::Fatal(message) => Err(ModelError::permanent(message)),
            ModelEntry::BreakAfter { chunk, message } => {
                chunks.text(chunk);
                Err(ModelError::transient(message))
            }
            ModelEntry::Kill => Err(failed(self.world.kill())),
        }
    }
}

fn call(turn: usize, tool: &str, arguments: Value) -> ModelReply {
    let arguments = if arguments.is_null() { Value::Object(Map::new()) } else { arguments };
    ModelReply::calls(None, vec![ToolCall::new(format!("call_{turn}"), tool, arguments)])
}

/// What an adapter makes of a text that may be one of the recorded protocol's actions. One that begins as JSON and does
/// not end as such was cut off (contract F5); any other text is an answer.
fn parsed(turn: usize, text: &str) -> Result<ModelReply, ModelError> {
    if !text.trim_start().starts_with('{') {
        return Ok(ModelReply::text(text));
    }
    let Ok(action) = serde_json::from_str::<Value>(text) else {
        return Err(ModelError::truncated("the reply begins as JSON and does not end as such"));
    };
    match (action["type"].as_str(), action.get("content"), action["tool"].as_str()) {
        (Some("final"), Some(content), _) => Ok(ModelReply::text(as_text(content))),
        (Some("tool_call"), _, Some(tool)) => Ok(call(turn, tool, action["args"].clone())),
        _ => Ok(ModelReply::text(text)),
    }
}

/// The arguments of the tool that reads results, under their names here.
fn renamed(arguments: &Value) -> Value {
    let fields = arguments.as_object().into_iter().flatten();
    let here = |name: &str| if name == "artifact_id" { "artifact".to_owned() } else { name.to_owned() };
    // Pages have one length here.
    fields.filter(|(name, _)| *name != "max_chars").map(|(name, value)| (here(name), value.clone())).collect()
}

/// How the newest result that was kept aside is read: the request says it, as JSON in the preview's text.
fn how_to_read(messages: &[Arc<Message>]) -> Option<Value> {
    messages.iter().rev().flat_map(|message| message.calls()).find_map(|exchange| {
        let shown = exchange.outcome.to_model_text();
        let arguments = &shown[shown.find("{\"artifact\"")?..];
        serde_json::Deserializer::from_str(arguments).into_iter().next()?.ok()
    })
}
