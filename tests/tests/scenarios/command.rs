//! What a scenario has done with its agent.

use serde_json::{Map, Value};

use crate::fields::Fields;
use crate::not_here::NotHere;
use crate::setup::{HookSetup, Setup, Written};

/// One command.
#[derive(Debug, Clone)]
pub(crate) enum Command {
    Invoke(Invocation),
    Stream(Invocation),
    RunHandle(Invocation),
    DirectInfer(Invocation),
    Concurrent(Vec<Invocation>),
    Resume {
        run_id: Option<String>,
        approved: Option<bool>,
        answer: Option<String>,
        budget: Option<Map<String, Value>>,
    },
    Reconcile {
        run_id: Option<String>,
        result: Value,
    },
    Rebuild {
        changes: Map<String, Value>,
    },
    Process {
        changes: Map<String, Value>,
        commands: Vec<Value>,
    },
    CallTool {
        tool: String,
        arguments: Value,
    },
    ToDict,
    FromDict {
        hooks: Vec<Value>,
        same_hooks: bool,
    },
    Fingerprint,
    Checkpoint {
        run_id: Option<String>,
    },
    LlmHistory,
    SessionHistory {
        session: Option<String>,
    },
}

/// A run that is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Invocation {
    pub(crate) prompts: Vec<String>,
    pub(crate) session: Option<String>,
    pub(crate) run_id: Option<String>,
    pub(crate) budget: Option<Map<String, Value>>,
    pub(crate) permissions: Option<Value>,
    pub(crate) metadata: Map<String, Value>,
    /// A tool that is called outside of the loop, and its arguments.
    pub(crate) tool: Option<(String, Value)>,
    pub(crate) timeout: Option<f64>,
}

impl Invocation {
    fn read(fields: &mut Fields) -> Result<Self, NotHere> {
        let prompt: Option<String> = fields.optional("prompt")?;
        let prompts: Vec<String> = fields.optional("prompts")?.unwrap_or_default();
        let prompts = if prompts.is_empty() { vec![prompt.unwrap_or_else(|| "go".to_owned())] } else { prompts };
        let arguments = fields.take("args").unwrap_or_default();
        let tool = match fields.take("tool") {
            None | Some(Value::Null) => None,
            Some(Value::String(tool)) => Some((tool, arguments)),
            Some(Value::Object(mut call)) => {
                let name = call.remove("name").or_else(|| call.remove("tool")).unwrap_or_default();
                Some((crate::hook::as_text(&name), call.remove("args").unwrap_or_default()))
            }
            Some(other) => return Err(NotHere::unsupported(format!("the tool {other} of a command"))),
        };
        Ok(Self {
            prompts,
            session: fields.optional("session")?,
            run_id: fields.optional("run_id")?,
            budget: fields.optional("budget")?,
            permissions: fields.optional("permissions")?,
            metadata: fields.optional("metadata")?.unwrap_or_default(),
            tool,
            timeout: fields.optional("timeout")?,
        })
    }
}

impl Command {
    pub(crate) fn read(value: &Value) -> Result<Self, NotHere> {
        let mut fields = Fields::of("a command", value)?;
        let name: String = fields.required("do")?;
        let mut fields = Fields::of(format!("the command {name}"), value)?;
        fields.take("do");
        let run_id = |fields: &mut Fields| fields.optional::<String>("run_id");
        let changes =
            |fields: &mut Fields| fields.optional::<Map<String, Value>>("changes").map(Option::unwrap_or_default);
        let command = match name.as_str() {
            "invoke" => Self::Invoke(Invocation::read(&mut fields)?),
            "stream" => Self::Stream(Invocation::read(&mut fields)?),
            "run_handle" => Self::RunHandle(Invocation::read(&mut fields)?),
            "direct_infer" => Self::DirectInfer(Invocation::read(&mut fields)?),
            "concurrent" => Self::Concurrent(concurrent(&mut fields)?),
            "resume" => Self::Resume {
                run_id: run_id(&mut fields)?,
                approved: fields.optional("approved")?,
                answer: fields.optional("answer")?,
                budget: fields.optional("budget")?,
            },
            "reconcile" => {
                Self::Reconcile { run_id: run_id(&mut fields)?, result: fields.take("result").unwrap_or_default() }
            }
            "rebuild" => Self::Rebuild { changes: changes(&mut fields)? },
            "process" => Self::Process { changes: changes(&mut fields)?, commands: fields.required("commands")? },
            "call_tool" => {
                let tool = fields.required("tool")?;
                Self::CallTool { tool, arguments: fields.take("args").unwrap_or_default() }
            }
            "to_dict" => Self::ToDict,
            "from_dict" => {
                let (hooks, same_hooks) = match fields.take("hooks") {
                    None | Some(Value::Null | Value::Bool(false)) => (Vec::new(), false),
                    Some(Value::Bool(true) | Value::String(_)) => (Vec::new(), true),
                    Some(Value::Array(hooks)) => (hooks, false),
                    Some(other) => return Err(NotHere::unsupported(format!("from_dict with the hooks {other}"))),
                };
                Self::FromDict { hooks, same_hooks }
            }
            "fingerprint" => Self::Fingerprint,
            "checkpoint" => Self::Checkpoint { run_id: run_id(&mut fields)? },
            "llm_history" => {
                let _session: Option<String> = fields.optional("session")?;
                Self::LlmHistory
            }
            "session_history" => Self::SessionHistory { session: fields.optional("session")? },
            "py" => {
                let name = fields.optional::<String>("name")?.unwrap_or_default();
                return Err(NotHere::python_only(format!("the command py {name}")));
            }
            other => return Err(NotHere::unsupported(format!("the command `{other}`"))),
        };
        fields.end()?;
        Ok(command)
    }

    /// Reads everything that the command will need, so that what cannot be played is found before anything runs.
    pub(crate) fn check(&self, setup: &Written) -> Result<(), NotHere> {
        match self {
            Self::Rebuild { changes } => Setup::read(&setup.with(changes)).map(drop),
            Self::Process { changes, commands } => {
                let setup = setup.with(changes);
                Setup::read(&setup)?;
                commands.iter().try_for_each(|command| Self::read(command)?.check(&setup))
            }
            Self::FromDict { hooks, .. } => {
                let written = hooks.iter().filter(|hook| hook.is_object());
                written.map(HookSetup::read).try_for_each(|hook| hook.map(drop))
            }
            _ => Ok(()),
        }
    }
}

/// Several runs at once: given as commands, as prompts, or as a number of equal ones.
fn concurrent(fields: &mut Fields) -> Result<Vec<Invocation>, NotHere> {
    for name in ["commands", "runs", "invokes"] {
        if let Some(commands) = fields.optional::<Vec<Value>>(name)? {
            return commands.iter().map(one_of_several).collect();
        }
    }
    let count = match fields.optional("count")? {
        Some(count) => Some(count),
        None => fields.optional::<usize>("n")?,
    };
    let invocation = Invocation::read(fields)?;
    let one = |prompt: &String| Invocation { prompts: vec![prompt.clone()], ..invocation.clone() };
    let all: Vec<Invocation> = invocation.prompts.iter().map(one).collect();
    Ok(match count {
        Some(count) => (0..count).flat_map(|_| all.clone()).collect(),
        None => all,
    })
}

fn one_of_several(value: &Value) -> Result<Invocation, NotHere> {
    if let Value::String(prompt) = value {
        return Ok(Invocation { prompts: vec![prompt.clone()], ..Invocation::default() });
    }
    let mut fields = Fields::of("a command among several at once", value)?;
    match fields.optional::<String>("do")?.as_deref() {
        None | Some("invoke") => {}
        Some(other) => return Err(NotHere::unsupported(format!("the command `{other}` among several at once"))),
    }
    let invocation = Invocation::read(&mut fields)?;
    fields.end()?;
    Ok(invocation)
}
