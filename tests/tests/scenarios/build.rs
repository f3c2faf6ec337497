//! From a set-up to an agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use protolink::durable::SqliteStore;
use protolink::rules::{Approval, ApprovalRequest, Budget, ContextPolicy};
use protolink::testing::retry_at_once;
use protolink::{Agent, AgentConfig, BoxError, BuildError, Captured, DynTool, RunEvent, ToolContext, ToolError};
use serde_json::{Map, Value, json};

use crate::fields::Fields;
use crate::hook::group;
use crate::model::ScenarioModel;
use crate::not_here::NotHere;
use crate::policy::ScenarioPolicy;
use crate::setup::{HookSetup, LEASE, Setup, ToolDoes, ToolSetup};
use crate::world::{Entry, World};

/// The built-in tool that reads a result which was kept aside, and its name in the recorded runs.
pub(crate) const ARTIFACT_TOOL: &str = "read_artifact";
pub(crate) const ARTIFACT_TOOL_THERE: &str = "read_context_artifact";

/// The steps of a run that was given no limit, in the recorded runs.
const STEPS: u32 = 10;

/// What an agent is built with beside its set-up.
pub(crate) struct Ground<'g> {
    pub(crate) world: &'g Arc<World>,
    pub(crate) store: Option<&'g Arc<SqliteStore>>,
    /// The configuration that it is restored from.
    pub(crate) saved: Option<&'g AgentConfig>,
}

/// Builds the agent of a set-up with these hooks.
pub(crate) fn agent(
    ground: &Ground<'_>,
    setup: &Setup,
    hooks: &[HookSetup],
) -> Result<Result<Agent, BuildError>, NotHere> {
    let world = ground.world;
    let mut builder = match ground.saved {
        None => Agent::builder("scenario").instructions("Do what is asked."),
        Some(saved) => saved.builder(),
    };
    builder = builder
        .model(ScenarioModel::new(Arc::clone(world), setup.model.clone()))
        .policy(ScenarioPolicy(setup.policy.clone()))
        .retry(retry_at_once())
        .lease(LEASE)
        .budget(Budget::new().max_steps(STEPS))
        .group(group(world, hooks));
    for tool in &setup.tools {
        builder = builder.dyn_tool(scenario_tool(world, tool));
    }
    if let Some(answer) = &setup.approver {
        let approval = approval(answer)?;
        builder = builder.approver(move |_: &ApprovalRequest| approval.clone());
    }
    if let Some(context) = setup.context_policy {
        builder = builder.context_policy(
            ContextPolicy::new(context.max_tokens)
                .reserve_tokens(context.reserve_tokens)
                .preserve_recent(context.preserve_recent)
                .max_result_chars(context.max_result_chars),
        );
    }
    if let Some(version) = &setup.execution_version {
        builder = builder.execution_version(version);
    }
    if let Some(corrections) = setup.max_tool_corrections {
        builder = builder.max_tool_corrections(corrections);
    }
    if setup.expose_tool_results {
        let world = Arc::clone(world);
        builder = builder.capture_content(true).observer(move |event: &RunEvent| {
            if let RunEvent::Observed { result: Captured::Content(result), .. } = event
                && let Err(error) = world.note(&Entry::Exposed { result: (**result).clone() })
            {
                eprintln!("{error}");
            }
        });
    }
    if let Some(store) = ground.store {
        builder = builder.durable(Arc::clone(store));
    }
    Ok(builder.build())
}

fn approval(answer: &Value) -> Result<Approval, NotHere> {
    let word = match answer {
        Value::Object(fields) => fields.get("approved").cloned().unwrap_or_default(),
        other => other.clone(),
    };
    match word {
        Value::Bool(true) => Ok(Approval::Approve),
        Value::Bool(false) => Ok(Approval::Reject { reason: "a person said no".to_owned() }),
        Value::Null => Ok(Approval::Undecided),
        Value::String(word) if ["approve", "approved", "allow", "yes"].contains(&word.as_str()) => {
            Ok(Approval::Approve)
        }
        Value::String(word) if ["reject", "deny", "denied", "no"].contains(&word.as_str()) => {
            Ok(Approval::Reject { reason: "a person said no".to_owned() })
        }
        other => Err(NotHere::unsupported(format!("the live approver's answer {other}"))),
    }
}

fn scenario_tool(world: &Arc<World>, tool: &ToolSetup) -> DynTool {
    let schema = json!({
        "type": "object",
        "properties": { "x": { "type": "integer", "default": 0 } },
        "additionalProperties": false,
    });
    let (world, name, does) = (Arc::clone(world), tool.name.clone(), tool.does.clone());
    let run = move |arguments: Value, _: ToolContext| {
        let (world, name, does) = (Arc::clone(&world), name.clone(), does.clone());
        async move {
            check(&arguments)?;
            world.note(&Entry::Effect { tool: name }).map_err(failed)?;
            match does {
                ToolDoes::Return(value) => Ok(Returned::Json(value)),
                ToolDoes::ReturnSpecial(special) => Ok(Returned::Special(special)),
                ToolDoes::Raise(text) => Err(ToolError::failed(text)),
                ToolDoes::Reject(text) => Err(ToolError::rejected(text)),
                ToolDoes::Kill => Err(failed(world.kill())),
            }
        }
    };
    let made = DynTool::new(&tool.name, &tool.description, schema, run);
    tool.capabilities.iter().fold(made, DynTool::capability)
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum Returned {
    Json(Value),
    Special(crate::special::Special),
}

fn check(arguments: &Value) -> Result<(), ToolError> {
    let none = Map::new();
    for (name, value) in arguments.as_object().unwrap_or(&none) {
        if name != "x" {
            return Err(ToolError::rejected(format!("there is no argument `{name}`")));
        }
        if !value.is_i64() {
            return Err(ToolError::rejected("x must be an integer"));
        }
    }
    Ok(())
}

fn failed(error: impl std::fmt::Display) -> ToolError {
    let text: BoxError = error.to_string().into();
    ToolError::failed(text)
}

/// The limits that a command gives to its run.
pub(crate) fn budget(
    setup: &Setup,
    limits: Option<&Map<String, Value>>,
    sliced_to: Option<u32>,
) -> Result<Budget, NotHere> {
    let written = Value::Object(limits.cloned().unwrap_or_default());
    let mut fields = Fields::of("a budget", &written)?;
    let limit: Option<u32> = fields.optional("max_steps")?;
    // Where a run yields, its own limit is the only one.
    let most =
        if setup.yield_after_steps.is_some() { limit.unwrap_or(STEPS) } else { limit.unwrap_or(STEPS).min(STEPS) };
    let mut budget = Budget::new().max_steps(sliced_to.map_or(most, |slice| slice.min(most)));
    if let Some(calls) = fields.optional("max_llm_calls")? {
        budget = budget.max_model_calls(calls);
    }
    if let Some(calls) = fields.optional("max_tool_calls")? {
        budget = budget.max_tool_calls(calls);
    }
    if let Some(tokens) = fields.optional("max_input_tokens")? {
        budget = budget.max_input_tokens(tokens);
    }
    if let Some(tokens) = fields.optional("max_output_tokens")? {
        // Requests and replies share one limit here.
        budget = budget.max_tokens(tokens);
    }
    if let Some(seconds) = fields.optional::<f64>("max_runtime_seconds")? {
        let time = std::time::Duration::try_from_secs_f64(seconds).map_err(NotHere::unsupported)?;
        budget = budget.max_wall_time(time);
    }
    let _metadata: Option<BTreeMap<String, Value>> = fields.optional("metadata")?;
    fields.end()?;
    Ok(budget)
}
