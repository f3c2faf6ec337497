//! Everything that a builder was told, and what an agent is made of.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::config::AgentConfig;
use crate::durable::RunStore;
use crate::error::BuildError;
use crate::event::Observer;
use crate::fingerprint::{ContractFingerprint, hook_part, setting_part, tool_part};
use crate::hook::{
    AfterTool, AnswerType, AnyCode, BeforeComplete, BeforeModel, BoundHook, EntryCode, HookEntry, HookIdentity, Stage,
};
use crate::message::{OVERHEAD, estimate_json, estimate_text};
use crate::model::{Model, ModelId};
use crate::rules::context::read_artifact_tool;
use crate::rules::{Approver, Budget, CapabilityPolicy, ContextPolicy, Policy, Retry};
use crate::tool::{ASK_USER, BoundTool, ToolSpec, is_valid_tool_name};
use crate::value::ValueError;

/// The hooks of an agent, each stage in the order in which they run.
#[derive(Default)]
pub(crate) struct Hooks {
    pub(crate) before_model: Vec<BoundHook<BeforeModel>>,
    pub(crate) after_tool: Vec<BoundHook<AfterTool>>,
    pub(crate) before_complete: Vec<BoundHook<BeforeComplete>>,
}

impl Hooks {
    pub(crate) fn push<S: Send + Sync + 'static>(&mut self, entry: HookEntry<S>, state: Arc<S>) {
        let identity = entry.identity;
        let code = match entry.code {
            EntryCode::Annotated(code) => code.bind(state),
            EntryCode::Closure(code) => code,
        };
        match code.0 {
            AnyCode::BeforeModel(code) => BoundHook::push(&mut self.before_model, identity, code),
            AnyCode::AfterTool(code) => BoundHook::push(&mut self.after_tool, identity, code),
            AnyCode::BeforeComplete(code) => BoundHook::push(&mut self.before_complete, identity, code),
        }
    }

    /// Every hook, stage by stage, in the order in which they run.
    pub(crate) fn identities(&self) -> impl Iterator<Item = &HookIdentity> {
        let before_model = self.before_model.iter().map(|hook| &hook.identity);
        let after_tool = self.after_tool.iter().map(|hook| &hook.identity);
        let before_complete = self.before_complete.iter().map(|hook| &hook.identity);
        before_model.chain(after_tool).chain(before_complete)
    }
}

/// The type that an answer is to have.
#[derive(Debug, Clone)]
pub(crate) struct AnswerSpec {
    pub(crate) schema: Arc<Value>,
    /// The estimated size of the schema.
    pub(crate) tokens: u64,
    pub(crate) check: fn(&Value) -> Result<(), ValueError>,
}

impl AnswerSpec {
    /// An answer that becomes a `T` when it is out.
    pub(crate) fn of<T: DeserializeOwned + JsonSchema>() -> Self {
        Self::checked::<T>(|content| T::deserialize(content).map(drop).map_err(|error| ValueError::misfit(&error)))
    }

    /// An answer that hooks look at as a `T`, too.
    pub(crate) fn for_hooks<T: AnswerType + JsonSchema>() -> Self {
        Self::checked::<T>(|content| T::decode(content).map(drop))
    }

    fn checked<T: JsonSchema>(check: fn(&Value) -> Result<(), ValueError>) -> Self {
        let schema = Arc::new(schemars::schema_for!(T).to_value());
        let tokens = estimate_json(&*schema);
        Self { schema, tokens, check }
    }

    /// JSON that is to fit a schema whose type nobody named.
    pub(crate) fn untyped(schema: Arc<Value>) -> Self {
        let tokens = estimate_json(&*schema);
        Self { schema, tokens, check: |_| Ok(()) }
    }
}

/// Everything that a builder was told.
pub(crate) struct Settings {
    pub(crate) name: String,
    pub(crate) instructions: String,
    pub(crate) model: Option<Arc<dyn Model>>,
    pub(crate) tools: Vec<BoundTool>,
    pub(crate) hooks: Hooks,
    /// The annotated hooks, so that one that is given twice is refused.
    pub(crate) annotated: Vec<(Stage, String)>,
    pub(crate) policy: Arc<dyn Policy>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) budget: Budget,
    pub(crate) context_policy: Option<ContextPolicy>,
    pub(crate) retry: Retry,
    pub(crate) observers: Vec<Arc<dyn Observer>>,
    pub(crate) store: Option<Arc<dyn RunStore>>,
    pub(crate) lease: Duration,
    pub(crate) execution_version: String,
    pub(crate) max_tool_corrections: u32,
    pub(crate) max_revisions: Option<u32>,
    pub(crate) tool_timeout: Option<Duration>,
    pub(crate) max_parallel_tools: usize,
    pub(crate) capture_content: bool,
    pub(crate) strict: bool,
    pub(crate) answer: Option<AnswerSpec>,
    /// The saved configuration that this agent is to agree with.
    pub(crate) expected: Option<AgentConfig>,
}

impl Settings {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            instructions: String::new(),
            model: None,
            tools: Vec::new(),
            hooks: Hooks::default(),
            annotated: Vec::new(),
            policy: Arc::new(CapabilityPolicy::new()),
            approver: None,
            budget: Budget::new(),
            context_policy: None,
            retry: Retry::new(),
            observers: Vec::new(),
            store: None,
            lease: Duration::from_secs(30),
            execution_version: String::new(),
            max_tool_corrections: 2,
            max_revisions: None,
            tool_timeout: None,
            max_parallel_tools: 8,
            capture_content: false,
            strict: false,
            answer: None,
            expected: None,
        }
    }

    /// Checks what types could not, and makes the agent's inside.
    pub(crate) fn finish(mut self) -> Result<AgentInner, BuildError> {
        let Some(model) = self.model.take() else { return Err(BuildError::NoModel { agent: self.name }) };
        if self.context_policy.as_ref().is_some_and(ContextPolicy::keeps_results_aside) {
            self.tools.push(BoundTool::built_in(read_artifact_tool()));
        }
        self.check()?;
        let contract = self.contract(&model.id());
        let config = AgentConfig::of(&self, &model.id(), &contract);
        if let Some(expected) = &self.expected {
            expected.check(&self.name, &contract)?;
        }
        Ok(AgentInner {
            specs: self.tools.iter().map(|tool| Arc::clone(&tool.spec)).collect(),
            spec_tokens: self.tools.iter().map(|tool| estimate_spec(&tool.spec)).collect(),
            native_tools: model.native_tools(),
            model_id: model.id(),
            instructions: self.instructions.as_str().into(),
            model,
            contract,
            config,
            settings: self,
        })
    }

    fn check(&self) -> Result<(), BuildError> {
        let agent = || self.name.clone();
        let mut names = HashSet::new();
        for tool in &self.tools {
            let name = tool.spec.name();
            if !is_valid_tool_name(name) {
                return Err(BuildError::ToolName { tool: name.to_owned() });
            }
            if !names.insert(name) {
                return Err(BuildError::DuplicateTool { agent: agent(), tool: name.to_owned() });
            }
            if tool.spec.schema().get("type").is_none_or(|kind| kind != "object") {
                return Err(BuildError::ToolSchema { tool: name.to_owned() });
            }
            if name == ASK_USER && tool.is_built_in() && self.store.is_none() {
                return Err(BuildError::AskUserWithoutStore { agent: agent() });
            }
        }
        let mut hooks = HashSet::new();
        for (stage, hook) in &self.annotated {
            if !hooks.insert((stage, hook)) {
                return Err(BuildError::DuplicateHook { stage: *stage, hook: hook.clone() });
            }
        }
        for identity in self.hooks.identities() {
            if let Some(tool) = identity.tool.as_deref().filter(|tool| !names.contains(tool)) {
                let (hook, tool) = (identity.name.clone(), tool.to_owned());
                return Err(BuildError::HookForMissingTool { agent: agent(), hook, tool });
            }
        }
        for (setting, value) in [("tool timeout", self.tool_timeout), ("lease", Some(self.lease))] {
            if let Some(value) = value.filter(Duration::is_zero) {
                return Err(BuildError::NoTime { setting, value });
            }
        }
        Ok(())
    }

    /// The fingerprint of all that a run depends on (contract D6). Budgets are not in it.
    fn contract(&self, model: &ModelId) -> ContractFingerprint {
        let mut parts = vec![
            setting_part("execution version", &self.execution_version),
            setting_part("model", model),
            setting_part("instructions", &self.instructions),
            setting_part("context policy", &self.context_policy),
            setting_part("answer type", &self.answer.as_ref().map(|answer| &*answer.schema)),
        ];
        for tool in &self.tools {
            parts.push(tool_part(tool.spec.name(), &(&*tool.spec, &tool.output_schema)));
        }
        let mut seen: Vec<String> = Vec::new();
        for identity in self.hooks.identities() {
            let key = format!("{} {}", identity.stage, identity.path());
            let occurrence = seen.iter().filter(|other| **other == key).count();
            parts.push(hook_part(identity, occurrence));
            seen.push(key);
        }
        ContractFingerprint::of_parts(parts)
    }
}

/// What all clones of an agent share.
pub(crate) struct AgentInner {
    pub(crate) settings: Settings,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) model_id: ModelId,
    pub(crate) native_tools: bool,
    pub(crate) instructions: Arc<str>,
    /// The registered roster.
    pub(crate) specs: Arc<[Arc<ToolSpec>]>,
    /// The estimated sizes of their descriptions, in the same order.
    spec_tokens: Vec<u64>,
    pub(crate) contract: ContractFingerprint,
    pub(crate) config: AgentConfig,
}

impl AgentInner {
    pub(crate) fn tool(&self, name: &str) -> Option<&BoundTool> {
        self.settings.tools.iter().find(|tool| tool.spec.name() == name)
    }

    /// The estimated size of the descriptions of a step's tools: the registered ones in their order, less some.
    pub(crate) fn tool_tokens(&self, tools: &[Arc<ToolSpec>]) -> u64 {
        let mut tools = tools.iter().peekable();
        let registered = self.specs.iter().zip(&self.spec_tokens);
        registered.filter(|(spec, _)| tools.next_if(|tool| Arc::ptr_eq(tool, spec)).is_some()).map(|(_, n)| n).sum()
    }
}

fn estimate_spec(spec: &ToolSpec) -> u64 {
    OVERHEAD + estimate_text(spec.name()) + estimate_text(spec.description()) + estimate_json(spec.schema())
}

impl fmt::Debug for AgentInner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("name", &self.settings.name).finish_non_exhaustive()
    }
}
