//! What the agent of a scenario is made of.

use std::collections::BTreeMap;
use std::time::Duration;

use protolink::Stage;
use serde_json::{Map, Value};

use crate::fields::Fields;
use crate::not_here::NotHere;
use crate::operation::{Operation, operations};
use crate::special::Special;

/// Every stage.
pub(crate) const STAGES: [Stage; 3] = [Stage::BeforeModel, Stage::AfterTool, Stage::BeforeComplete];

/// A set-up as it is written, to which a `rebuild` applies changes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Written(pub(crate) Map<String, Value>);

impl Written {
    /// The same with these keys in place of its own.
    pub(crate) fn with(&self, changes: &Map<String, Value>) -> Self {
        let mut fields = self.0.clone();
        fields.extend(changes.iter().map(|(name, value)| (name.clone(), value.clone())));
        Self(fields)
    }

    /// What the contract's fingerprint depends on (contract D6): hooks stage by stage with what they do, tools with
    /// what the model is told of them, the context policy and the execution version. The order of hooks of different
    /// stages, the policy, budgets and the model's script are not in it.
    pub(crate) fn contract(&self) -> Result<Value, NotHere> {
        let setup = Setup::read(self)?;
        let stages = STAGES.map(|stage| {
            let hooks = setup.hooks.iter().filter_map(|hook| hook.name_at(stage));
            hooks.map(Value::from).collect::<Value>()
        });
        let mut tools: Vec<Value> = setup
            .tools
            .iter()
            .map(|tool| serde_json::json!([tool.name, tool.description, tool.capabilities]))
            .collect();
        tools.sort_by_key(ToString::to_string);
        let field = |name: &str| self.0.get(name).cloned().unwrap_or_default();
        Ok(serde_json::json!([stages, tools, field("context_policy"), field("execution_version")]))
    }
}

/// A set-up that was read and checked.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) tools: Vec<ToolSetup>,
    pub(crate) hooks: Vec<HookSetup>,
    pub(crate) model: Vec<ModelEntry>,
    pub(crate) durable: bool,
    pub(crate) policy: BTreeMap<String, Value>,
    pub(crate) approver: Option<Value>,
    pub(crate) context_policy: Option<ContextSetup>,
    pub(crate) keeps_conversations: bool,
    pub(crate) yield_after_steps: Option<u32>,
    pub(crate) execution_version: Option<String>,
    pub(crate) expose_tool_results: bool,
    pub(crate) max_tool_corrections: Option<u32>,
}

impl Setup {
    pub(crate) fn read(written: &Written) -> Result<Self, NotHere> {
        let mut fields = Fields::of("setup", &Value::Object(written.0.clone()))?;
        let list = |fields: &mut Fields, name: &str| fields.optional::<Vec<Value>>(name).map(Option::unwrap_or_default);
        let tools = list(&mut fields, "tools")?.iter().map(ToolSetup::read).collect::<Result<_, _>>()?;
        let hooks = list(&mut fields, "hooks")?.iter().map(HookSetup::read).collect::<Result<_, _>>()?;
        let model = list(&mut fields, "model")?.iter().map(ModelEntry::read).collect::<Result<_, _>>()?;
        let version = fields.optional::<Value>("execution_version")?;
        let kept = fields.optional::<Vec<String>>("state")?.unwrap_or_default();
        if let Some(other) = kept.iter().find(|kept| *kept != "conversation") {
            return Err(NotHere::unsupported(format!("the state `{other}`")));
        }
        let setup = Self {
            tools,
            hooks,
            model,
            durable: fields.optional("durable")?.unwrap_or_default(),
            policy: fields.optional("policy")?.unwrap_or_default(),
            approver: fields.take("approval_handler"),
            context_policy: fields.optional::<Value>("context_policy")?.as_ref().map(ContextSetup::read).transpose()?,
            keeps_conversations: !kept.is_empty(),
            yield_after_steps: fields.optional("yield_after_steps")?,
            execution_version: version.map(|version| version.as_str().map_or(version.to_string(), str::to_owned)),
            expose_tool_results: fields.optional("expose_tool_results")?.unwrap_or_default(),
            max_tool_corrections: fields.optional("max_tool_corrections")?,
        };
        fields.end()?;
        Ok(setup)
    }
}

/// A tool: what is told of it, and what it does.
#[derive(Debug, Clone)]
pub(crate) struct ToolSetup {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) capabilities: Vec<String>,
    pub(crate) does: ToolDoes,
}

/// What a tool does once it has counted that it ran.
#[derive(Debug, Clone)]
pub(crate) enum ToolDoes {
    Return(Value),
    ReturnSpecial(Special),
    Raise(String),
    Reject(String),
    Kill,
}

impl ToolSetup {
    fn read(value: &Value) -> Result<Self, NotHere> {
        let mut fields = Fields::of("a tool", value)?;
        let does = if let Some(text) = fields.optional("raises")? {
            ToolDoes::Raise(text)
        } else if let Some(text) = fields.optional("rejects")? {
            ToolDoes::Reject(text)
        } else if fields.optional("kill")?.unwrap_or(false) {
            ToolDoes::Kill
        } else if let Some(name) = fields.optional::<String>("returns_special")? {
            ToolDoes::ReturnSpecial(Special::named(&name)?)
        } else {
            ToolDoes::Return(fields.take("returns").unwrap_or_default())
        };
        let name: String = fields.required("name")?;
        let tool = Self {
            description: fields.optional("description")?.unwrap_or_else(|| format!("The tool {name}.")),
            name,
            capabilities: fields.optional("capabilities")?.unwrap_or_default(),
            does,
        };
        fields.end()?;
        Ok(tool)
    }
}

/// A hook: at each of its stages a list of operations.
#[derive(Debug, Clone)]
pub(crate) struct HookSetup {
    pub(crate) id: String,
    pub(crate) is_async: bool,
    stages: Vec<(Stage, Value, Vec<Operation>)>,
}

impl HookSetup {
    pub(crate) fn read(value: &Value) -> Result<Self, NotHere> {
        let mut fields = Fields::of("a hook", value)?;
        if let Some(name) = fields.optional::<String>("python")? {
            return Err(NotHere::python_only(format!("the hook {name}")));
        }
        // A bare function is a `before_model` hook, which is how every hook of that stage is registered here.
        let _bare: Option<bool> = fields.optional("bare")?;
        let mut stages = Vec::new();
        for stage in STAGES {
            if let Some(written) = fields.optional::<Value>(stage.as_str())? {
                let read = operations(stage, &written)?;
                stages.push((stage, written, read));
            }
        }
        let hook = Self { id: fields.required("id")?, is_async: fields.optional("async")?.unwrap_or_default(), stages };
        fields.end()?;
        Ok(hook)
    }

    pub(crate) fn operations_at(&self, stage: Stage) -> Option<&[Operation]> {
        self.stages.iter().find(|(at, ..)| *at == stage).map(|(.., operations)| operations.as_slice())
    }

    /// The name under which it is registered. A closure has no source that a fingerprint could cover (contract S6), so
    /// its name carries what it does, as the source of an annotated function would (contract D6).
    pub(crate) fn name_at(&self, stage: Stage) -> Option<String> {
        let (_, written, _) = self.stages.iter().find(|(at, ..)| *at == stage)?;
        let keyword = if self.is_async { "async " } else { "" };
        Some(format!("{keyword}{} {}", self.id, short(&written.to_string())))
    }
}

/// The text, or what stands for it where it is long.
fn short(text: &str) -> String {
    if text.len() <= 120 {
        return text.to_owned();
    }
    let sum = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{} bytes, {sum:016x}", text.len())
}

/// What the model does when it is asked.
#[derive(Debug, Clone)]
pub(crate) enum ModelEntry {
    Final(Value),
    Call { tool: String, arguments: Value },
    Raw(String),
    Transient(String),
    Fatal(String),
    BreakAfter { chunk: String, message: String },
    Kill,
    ReadArtifact,
}

impl ModelEntry {
    fn read(value: &Value) -> Result<Self, NotHere> {
        let mut fields = Fields::of("a model entry", value)?;
        // What a model thinks aloud is not part of its reply.
        fields.take("thought");
        let entry = if fields.has("final") {
            Self::Final(fields.take("final").unwrap_or_default())
        } else if fields.has("call") {
            let arguments = fields.take("args").unwrap_or_default();
            Self::Call { tool: fields.required("call")?, arguments }
        } else if fields.has("delegate") {
            // Another agent is a tool like any other: delegating to it is a call.
            let arguments = serde_json::json!({ "prompt": fields.take("prompt").unwrap_or_default() });
            let agent: Value = fields.required("delegate")?;
            Self::Call { tool: agent.as_str().unwrap_or("delegate").to_owned(), arguments }
        } else if fields.has("raw") {
            Self::Raw(fields.required("raw")?)
        } else if fields.has("after_chunks") {
            Self::BreakAfter { chunk: fields.required("after_chunks")?, message: fields.required("transient")? }
        } else if fields.has("transient") {
            Self::Transient(fields.required("transient")?)
        } else if fields.has("fatal") {
            Self::Fatal(fields.required("fatal")?)
        } else if fields.has("kill") {
            fields.take("kill");
            Self::Kill
        } else if fields.has("read_artifact") {
            fields.take("read_artifact");
            Self::ReadArtifact
        } else if fields.has("run") {
            return Err(NotHere::python_only(format!("the model's side action {value}")));
        } else {
            return Err(NotHere::unsupported(format!("the model entry {value}")));
        };
        fields.end()?;
        Ok(entry)
    }
}

/// The context policy, with the defaults of the recorded runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContextSetup {
    pub(crate) max_tokens: u64,
    pub(crate) reserve_tokens: u64,
    pub(crate) preserve_recent: usize,
    pub(crate) max_result_chars: usize,
}

impl ContextSetup {
    fn read(value: &Value) -> Result<Self, NotHere> {
        let mut fields = Fields::of("the context policy", value)?;
        let setup = Self {
            max_tokens: fields.optional("max_tokens")?.unwrap_or(32_000),
            reserve_tokens: fields.optional("reserve_tokens")?.unwrap_or(2048),
            preserve_recent: fields.optional("preserve_recent")?.unwrap_or(2),
            max_result_chars: fields.optional("tool_result_max_chars")?.unwrap_or(6000),
        };
        // How many results are kept aside, and how long one may be, has no limit of its own here.
        let (_artifacts, _chars): (Option<u64>, Option<u64>) =
            (fields.optional("max_artifacts")?, fields.optional("artifact_max_chars")?);
        fields.end()?;
        Ok(setup)
    }
}

/// How long a run is owned without a sign of life. Runs of killed processes are taken over after it.
pub(crate) const LEASE: Duration = Duration::from_millis(1500);
