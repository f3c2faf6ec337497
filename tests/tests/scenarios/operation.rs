//! What a hook of a scenario does, as it is written there.

use protolink::Stage;
use serde::Deserialize;
use serde_json::Value;

use crate::fields::Fields;
use crate::not_here::NotHere;
use crate::special::Special;

/// One operation of a hook.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operation {
    Raise { error: String, message: String },
    Kill,
    IfStep { is: Vec<u32>, then: Vec<Operation> },
    IfCall { is: Vec<u32>, then: Vec<Operation> },
    ReturnNothing,
    RemoveTool(String),
    ClearTools,
    AddMessage(Role, String),
    EditMessage(i64, String),
    DeleteMessage(i64),
    InsertMessage(i64, Role, String),
    SetSystem(String),
    AppendSystem(String),
    ClearHistory,
    Truncate(usize),
    SetResult(Value),
    SetResultSpecial(Special),
    SetKey(Vec<Key>, Value),
    DeleteKey(Vec<Key>),
    AppendKey(Vec<Key>, Value),
    SetContent(Value),
    SetContentSpecial(Special),
    Prefix(String),
    CheckNonempty,
}

/// Whose message it is. Others cannot be written: the system message is its own slot (contract M8), and a tool's result
/// is one with its call (contract M12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    Assistant,
}

/// One part of a path into JSON.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Key {
    Index(usize),
    Name(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    More(Vec<T>),
    One(T),
}

impl<T> OneOrMore<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            Self::More(items) => items,
            Self::One(item) => vec![item],
        }
    }
}

/// Reads the operations of a hook at a stage.
pub(crate) fn operations(stage: Stage, value: &Value) -> Result<Vec<Operation>, NotHere> {
    let Value::Array(items) = value else {
        return Err(NotHere::unsupported(format!("operations that are no list: {value}")));
    };
    items.iter().map(|item| operation(stage, item)).collect()
}

fn operation(stage: Stage, value: &Value) -> Result<Operation, NotHere> {
    let mut fields = Fields::of("an operation", value)?;
    let name: String = fields.required("do")?;
    let mut fields = Fields::of(format!("the operation {name}"), value)?;
    fields.take("do");
    let read = match any(stage, &name, &mut fields)? {
        Some(operation) => Some(operation),
        None => of_stage(stage, &name, &mut fields)?,
    };
    let Some(read) = read else { return Err(other_stage(stage, &name, value)) };
    fields.end()?;
    Ok(read)
}

fn of_stage(stage: Stage, name: &str, fields: &mut Fields) -> Result<Option<Operation>, NotHere> {
    match stage {
        Stage::BeforeModel => before_model(name, fields),
        Stage::AfterTool => after_tool(name, fields),
        Stage::BeforeComplete => before_complete(name, fields),
    }
}

/// An operation of another stage: the handle of this one does not have it, so it does not compile (contract S1).
fn other_stage(stage: Stage, name: &str, value: &Value) -> NotHere {
    let known = [Stage::BeforeModel, Stage::AfterTool, Stage::BeforeComplete].into_iter().any(|other| {
        Fields::of(name, value).is_ok_and(|mut fields| !matches!(of_stage(other, name, &mut fields), Ok(None)))
    });
    if known {
        NotHere::unwritable("S1", format!("{name} in a {stage} hook"))
    } else {
        NotHere::unsupported(format!("the operation `{name}`"))
    }
}

fn any(stage: Stage, name: &str, fields: &mut Fields) -> Result<Option<Operation>, NotHere> {
    Ok(Some(match name {
        "raise" => Operation::Raise {
            error: fields.required("error")?,
            message: fields.optional("message")?.unwrap_or_default(),
        },
        "kill" => Operation::Kill,
        "if_step" | "if_call" => {
            let is = fields.required::<OneOrMore<u32>>("is")?.into_vec();
            let then = operations(stage, &fields.required::<Value>("then")?)?;
            if name == "if_step" { Operation::IfStep { is, then } } else { Operation::IfCall { is, then } }
        }
        "return" => match fields.take("value") {
            None | Some(Value::Null) => Operation::ReturnNothing,
            Some(_) => return Err(NotHere::unwritable("S4", "a hook that returns a value")),
        },
        "context_set" => return Err(NotHere::unwritable("M11", "editing the context")),
        "py" => {
            let name = fields.optional::<String>("name")?.unwrap_or_default();
            return Err(NotHere::python_only(format!("the operation py {name}")));
        }
        _ => return Ok(None),
    }))
}

fn before_model(name: &str, fields: &mut Fields) -> Result<Option<Operation>, NotHere> {
    let tools = |what: &str| Err(NotHere::unwritable("M5", format!("{name}: {what} tools of a step")));
    Ok(Some(match name {
        "remove_tool" => Operation::RemoveTool(fields.required("name")?),
        "clear_tools" => Operation::ClearTools,
        "add_tool" | "alias_tool" => return tools("adding"),
        "replace_tool" | "assign_tools" | "assign_tools_none" => return tools("replacing"),
        "readd_tool" => return tools("restoring"),
        "add_message" => Operation::AddMessage(role(fields)?, fields.required("text")?),
        "edit_message" => Operation::EditMessage(fields.required("index")?, fields.required("text")?),
        "delete_message" => Operation::DeleteMessage(fields.required("index")?),
        "insert_message" => {
            Operation::InsertMessage(fields.required("index")?, role(fields)?, fields.required("text")?)
        }
        "set_system" => Operation::SetSystem(fields.required("text")?),
        "append_system" => Operation::AppendSystem(fields.required("text")?),
        "replace_history_object" => return Err(NotHere::unwritable("M3", "replacing the history")),
        "clear_history" => Operation::ClearHistory,
        "truncate" => {
            let most = fields.the_rest().as_ref().and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
            Operation::Truncate(most.ok_or_else(|| NotHere::unsupported("truncate without a number"))?)
        }
        _ => return Ok(None),
    }))
}

fn role(fields: &mut Fields) -> Result<Role, NotHere> {
    match fields.optional::<String>("role")?.as_deref() {
        None | Some("user") => Ok(Role::User),
        Some("assistant") => Ok(Role::Assistant),
        Some("system") => Err(NotHere::unwritable("M8", "a system message among the others")),
        Some("tool") => Err(NotHere::unwritable("M12", "a tool's result without its call")),
        Some(other) => Err(NotHere::unsupported(format!("the role `{other}`"))),
    }
}

fn special(fields: &mut Fields) -> Result<Special, NotHere> {
    let name = fields.the_rest();
    Special::named(name.as_ref().and_then(Value::as_str).unwrap_or("without a name"))
}

fn after_tool(name: &str, fields: &mut Fields) -> Result<Option<Operation>, NotHere> {
    Ok(Some(match name {
        "set_result" => Operation::SetResult(fields.take("value").unwrap_or_default()),
        "set_result_special" => Operation::SetResultSpecial(special(fields)?),
        "set_key" => Operation::SetKey(path(fields)?, fields.take("value").unwrap_or_default()),
        "del_key" => Operation::DeleteKey(path(fields)?),
        "append_key" => Operation::AppendKey(path(fields)?, fields.take("value").unwrap_or_default()),
        "set_name" => return Err(NotHere::unwritable("T1", "changing the name of the tool that was called")),
        _ => return Ok(None),
    }))
}

fn path(fields: &mut Fields) -> Result<Vec<Key>, NotHere> {
    Ok(fields.required::<OneOrMore<Key>>("path")?.into_vec())
}

fn before_complete(name: &str, fields: &mut Fields) -> Result<Option<Operation>, NotHere> {
    Ok(Some(match name {
        "set_content" => Operation::SetContent(fields.take("value").unwrap_or_default()),
        "set_content_special" => Operation::SetContentSpecial(special(fields)?),
        "prefix" => Operation::Prefix(fields.required("text")?),
        "check_nonempty" => Operation::CheckNonempty,
        _ => return Ok(None),
    }))
}

impl Operation {
    /// Whether one of these operations, at whatever depth, is such a one.
    pub(crate) fn any(operations: &[Self], is_one: &dyn Fn(&Self) -> bool) -> bool {
        operations.iter().any(|operation| {
            is_one(operation)
                || match operation {
                    Self::IfStep { then, .. } | Self::IfCall { then, .. } => Self::any(then, is_one),
                    _ => false,
                }
        })
    }
}
