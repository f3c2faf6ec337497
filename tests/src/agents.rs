//! Agents and tools that many tests need.

use protolink::testing::{ScriptedModel, retry_at_once};
use protolink::{Agent, AgentBuilder, DynTool, ToolError};
use serde_json::{Value, json};

use crate::Counter;

/// An error of the application's own, to be found again by downcasting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("boom at {0}")]
pub struct Boom(pub &'static str);

/// A builder with this model, whose retries do not wait. It is strict: every hook must do the same twice.
#[must_use]
pub fn agent(model: &ScriptedModel) -> AgentBuilder {
    agent_once(model).strict(true)
}

/// The same for hooks that count, or write down what they see: each runs once.
#[must_use]
pub fn agent_once(model: &ScriptedModel) -> AgentBuilder {
    Agent::builder("tester").model(model.clone()).retry(retry_at_once())
}

fn any_object() -> Value {
    json!({ "type": "object" })
}

/// A tool whose effect is that the counter goes up; it gives the count back, and asks for the capability of its name.
#[must_use]
pub fn effect(name: &str, counter: &Counter) -> DynTool {
    let counter = counter.clone();
    DynTool::new(name, "Has an effect.", any_object(), move |_, _| {
        let count = counter.next();
        async move { Ok::<_, ToolError>(json!({ "count": count })) }
    })
    .capability(name)
}

/// A tool that gives this value back.
#[must_use]
pub fn value_tool(name: &str, value: Value) -> DynTool {
    DynTool::new(name, "Gives a value.", any_object(), move |_, _| {
        let value = value.clone();
        async move { Ok::<_, ToolError>(value) }
    })
}

/// A tool that gives its arguments back.
#[must_use]
pub fn search_tool() -> DynTool {
    DynTool::new("search", "Finds things.", any_object(), |arguments, _| async move { Ok::<_, ToolError>(arguments) })
}

/// A tool that fails with [`Boom`].
#[must_use]
pub fn failing_tool(name: &str) -> DynTool {
    DynTool::new(name, "Fails.", any_object(), |_, _| async { Err::<Value, _>(ToolError::failed(Boom("tool"))) })
}
