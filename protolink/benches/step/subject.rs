//! What both loops work on: one tool, the model that calls it, three hooks that look and change nothing.

use std::hint::black_box;
use std::sync::Mutex;

use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest, Usage};
use protolink::prelude::*;
use protolink::{ToolCall, async_trait};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What the tool finds.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Found {
    at: String,
}

/// Looks something up.
#[protolink::tool]
pub(crate) fn look(at: String) -> Found {
    Found { at }
}

#[protolink::before_model]
pub(crate) fn reads_the_step(request: &mut ModelRequest<'_>) {
    black_box(request.step());
}

#[protolink::before_model]
pub(crate) fn reads_the_history(request: &mut ModelRequest<'_>) {
    black_box(request.history().len());
}

#[protolink::after_tool]
pub(crate) fn reads_the_result(observation: &mut ToolObservation<'_>) {
    black_box(observation.result());
}

pub(crate) fn arguments() -> Value {
    json!({ "at": "the lamps in the catalogue" })
}

/// A model that follows the shortest of scripts: it calls the tool so many times, and answers. It keeps no requests.
#[derive(Debug)]
pub(crate) struct CallsAndAnswers {
    calls: Vec<ToolCall>,
    left: Mutex<u32>,
}

impl CallsAndAnswers {
    pub(crate) fn new() -> Self {
        Self { calls: vec![ToolCall::new("call_1", "look", arguments())], left: Mutex::new(0) }
    }

    /// How many calls it makes before its next answer.
    pub(crate) fn makes(&self, calls: u32) {
        *self.left.lock().unwrap() = calls;
    }

    /// The next reply; no calls are an answer.
    pub(crate) fn next(&self) -> Vec<ToolCall> {
        let mut left = self.left.lock().unwrap();
        match left.checked_sub(1) {
            None => Vec::new(),
            Some(fewer) => {
                *left = fewer;
                self.calls.clone()
            }
        }
    }
}

#[async_trait]
impl Model for CallsAndAnswers {
    fn id(&self) -> ModelId {
        ModelId::new("bench", "calls-and-answers")
    }

    async fn respond(&self, request: &PreparedRequest<'_>, _: &mut ChunkSink<'_>) -> Result<ModelReply, ModelError> {
        black_box(request.messages());
        let calls = self.next();
        let reply = if calls.is_empty() { ModelReply::text("done") } else { ModelReply::calls(None, calls) };
        Ok(reply.with_usage(Usage::new(100, 10)))
    }
}
