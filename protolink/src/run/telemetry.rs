//! Spans under OpenTelemetry's names for generative AI (contract P3, T3).
//!
//! Every span is made by a macro that looks first whether anybody wants it: where nobody does, no field is evaluated,
//! and entering it is a check of one option. Contents are recorded only where the application switched their capture on.

use std::sync::Arc;

use serde_json::{Value, json};
use tracing::field::{Empty, display};
use tracing::level_filters::LevelFilter;
use tracing::{Span, info_span};

use super::ask::Attempt;
use super::state::Run;
use crate::digest::Digest;
use crate::error::Error;
use crate::event::HookEffect;
use crate::hook::HookIdentity;
use crate::message::{Message, ToolCall};
use crate::model::{FinishReason, ModelError, PreparedRequest, ReplyContent, ReportedReply};
use crate::outcome::Outcome;
use crate::receipt::{Receipt, ReceiptOutcome};

/// The target of every span, for filters.
const TARGET: &str = "protolink";

/// The span of a whole run, or of what a resume does of it.
pub(super) fn invoke_agent(run: &Run) -> Span {
    let (settings, model) = (&run.agent.settings, &run.agent.model_id);
    info_span!(
        target: TARGET,
        "invoke_agent",
        otel.name = %format_args!("invoke_agent {}", settings.name),
        otel.kind = "internal",
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = settings.name,
        gen_ai.provider.name = model.provider,
        gen_ai.request.model = model.name,
        gen_ai.conversation.id = run.context.session.as_deref(),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        protolink.run.id = run.id().as_str(),
        protolink.run.outcome = Empty,
        protolink.run.steps = Empty,
    )
}

/// Says how a run ended.
pub(super) fn invoked(span: &Span, run: &Run, result: &Result<Outcome, Error>) {
    if span.is_disabled() {
        return;
    }
    span.record("gen_ai.usage.input_tokens", run.spent.input_tokens);
    span.record("gen_ai.usage.output_tokens", run.spent.output_tokens);
    span.record("protolink.run.steps", run.step);
    match result {
        Ok(Outcome::Completed(_)) => drop(span.record("protolink.run.outcome", "completed")),
        Ok(Outcome::Interrupted(_)) => drop(span.record("protolink.run.outcome", "interrupted")),
        Err(error) => {
            span.record("protolink.run.outcome", "failed");
            failed(span, error.kind());
        }
    }
}

/// The span of one request to the model.
pub(super) fn chat(run: &Run, request: &PreparedRequest<'_>, attempt: u32) -> Span {
    let model = &run.agent.model_id;
    let span = info_span!(
        target: TARGET,
        "chat",
        otel.name = %format_args!("chat {}", model.name),
        otel.kind = "client",
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = model.provider,
        gen_ai.request.model = model.name,
        gen_ai.conversation.id = run.context.session.as_deref(),
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.system_instructions = Empty,
        gen_ai.input.messages = Empty,
        gen_ai.output.messages = Empty,
        protolink.step = run.step,
        protolink.attempt = attempt,
        protolink.tools = request.tools.len(),
    );
    if run.agent.settings.capture_content && !span.is_disabled() {
        span.record("gen_ai.system_instructions", request.system);
        span.record("gen_ai.input.messages", display(messages(request.messages)));
    }
    span
}

/// Says what the model replied, or how the attempt failed.
pub(super) fn replied(span: &Span, run: &Run, attempt: &Attempt) {
    if span.is_disabled() {
        return;
    }
    let reply = match attempt {
        Attempt::Replied(reply) => reply,
        Attempt::Failed { error, .. } => {
            return failed(
                span,
                match error {
                    ModelError::Transient { .. } => "model_transient",
                    ModelError::Truncated { .. } => "truncated",
                    _ => "model",
                },
            );
        }
        Attempt::Panicked(_) => return failed(span, "model_panicked"),
        Attempt::Cancelled => return failed(span, "cancelled"),
    };
    span.record("gen_ai.usage.input_tokens", reply.usage.input_tokens);
    span.record("gen_ai.usage.output_tokens", reply.usage.output_tokens);
    span.record("gen_ai.response.finish_reasons", display(json!([finish_reason(&reply.finish_reason)])));
    if run.agent.settings.capture_content {
        span.record("gen_ai.output.messages", display(json!([output(reply)])));
    }
}

/// The span of one tool call.
pub(super) fn execute_tool(run: &Run, call: &ToolCall) -> Span {
    let span = info_span!(
        target: TARGET,
        "execute_tool",
        otel.name = %format_args!("execute_tool {}", call.name),
        otel.kind = "internal",
        otel.status_code = Empty,
        "error.type" = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name,
        gen_ai.tool.call.id = call.id,
        "gen_ai.tool.type" = "function",
        gen_ai.tool.call.arguments = Empty,
        gen_ai.tool.call.result = Empty,
        protolink.step = run.step,
        protolink.tool.outcome = Empty,
        protolink.tool.result.digest = Empty,
    );
    if run.agent.settings.capture_content && !span.is_disabled() {
        span.record("gen_ai.tool.call.arguments", display(&call.arguments));
    }
    span
}

/// Says what a tool call came to: its receipt, or that there is none.
pub(super) fn executed(span: &Span, receipt: Option<&Receipt>, capture: bool) {
    if span.is_disabled() {
        return;
    }
    let Some(receipt) = receipt else {
        span.record("protolink.tool.outcome", "uncertain");
        return failed(span, "tool_uncertain");
    };
    let (outcome, error) = match &receipt.outcome {
        ReceiptOutcome::Returned(_) | ReceiptOutcome::Reconciled(_) => ("returned", None),
        ReceiptOutcome::Failed(_) => ("failed", Some("tool_failed")),
        ReceiptOutcome::Rejected(_) => ("rejected", Some("tool_rejected")),
        ReceiptOutcome::Unkept(_) => ("unkept", Some("tool_value")),
        ReceiptOutcome::Cancelled => ("cancelled", Some("cancelled")),
    };
    span.record("protolink.tool.outcome", outcome);
    if let Some(result) = receipt.result() {
        span.record("protolink.tool.result.digest", display(Digest::of_json(result).0));
        if capture {
            span.record("gen_ai.tool.call.result", display(result));
        }
    }
    if let Some(error) = error {
        failed(span, error);
    }
}

/// Whether anybody wants spans of this level at all: a load, where nobody does.
#[inline]
pub(super) fn may_be_wanted() -> bool {
    LevelFilter::current() >= LevelFilter::INFO
}

/// The span of one hook.
pub(super) fn hook(hook: &HookIdentity, step: u32) -> Span {
    info_span!(
        target: TARGET,
        "hook",
        otel.name = %format_args!("hook {}", hook.name),
        otel.kind = "internal",
        otel.status_code = Empty,
        "error.type" = Empty,
        protolink.hook.stage = hook.stage.as_str(),
        protolink.hook.name = hook.name,
        protolink.hook.changes = Empty,
        protolink.hook.tools_removed = Empty,
        protolink.hook.messages_changed = Empty,
        protolink.hook.digest_before = Empty,
        protolink.hook.digest_after = Empty,
        protolink.hook.size_difference = Empty,
        protolink.step = step,
    )
}

/// Says what a hook did.
pub(super) fn hook_ran(span: &Span, changes: usize, effect: &HookEffect) {
    if span.is_disabled() {
        return;
    }
    span.record("protolink.hook.changes", changes);
    span.record("protolink.hook.tools_removed", effect.tools_removed.len());
    span.record("protolink.hook.messages_changed", effect.messages_changed);
    if let Some(difference) = &effect.difference {
        span.record("protolink.hook.digest_before", display(difference.before));
        span.record("protolink.hook.digest_after", display(difference.after));
        span.record("protolink.hook.size_difference", difference.bytes);
    }
}

/// Says that what a span stands for failed; the error's text may hold content, and stays out of it.
pub(super) fn failed(span: &Span, kind: &'static str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind);
}

/// Messages in the form that the conventions describe: a role, and parts.
fn messages(messages: &[Arc<Message>]) -> Value {
    let mut all = Vec::with_capacity(messages.len());
    for message in messages {
        match &**message {
            Message::User(content) => all.push(json!({ "role": "user", "parts": [text(&content.text)] })),
            Message::Assistant(turn) => {
                let calls = turn.calls.iter().map(|exchange| call(&exchange.call));
                let parts: Vec<Value> = turn.text.iter().map(|words| text(words)).chain(calls).collect();
                all.push(json!({ "role": "assistant", "parts": parts }));
                all.extend(turn.calls.iter().map(|exchange| {
                    let response = exchange.outcome.to_model_text();
                    let part = json!({ "type": "tool_call_response", "id": exchange.call.id, "response": response });
                    json!({ "role": "tool", "parts": [part] })
                }));
            }
        }
    }
    Value::Array(all)
}

fn output(reply: &ReportedReply) -> Value {
    let parts: Vec<Value> = match &reply.content {
        ReplyContent::Final(words) => vec![text(words)],
        ReplyContent::Calls { text: words, calls } => {
            words.iter().map(|words| text(words)).chain(calls.iter().map(call)).collect()
        }
    };
    json!({ "role": "assistant", "parts": parts, "finish_reason": finish_reason(&reply.finish_reason) })
}

fn text(words: &str) -> Value {
    json!({ "type": "text", "content": words })
}

fn call(call: &ToolCall) -> Value {
    json!({ "type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments })
}

fn finish_reason(reason: &FinishReason) -> &str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::ToolCalls => "tool_call",
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Other(other) => other,
    }
}
