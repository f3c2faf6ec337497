//! The fingerprint of a whole agent, part by part, so that a difference can be said in words.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::hook::{HookIdentity, Stage};

/// What an agent's runs depend on, part by part (contract D6).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::ScriptedModel;
///
/// # fn main() -> Result<(), protolink::BuildError> {
/// let agent = |version| {
///     Agent::builder("a").model(ScriptedModel::new([])).execution_version(version).build()
/// };
/// let changes = agent("1")?.fingerprint().diff(agent("2")?.fingerprint());
/// assert_eq!(changes[0].to_string(), "the execution version changed");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractFingerprint {
    version: u32,
    digest: Digest,
    parts: Vec<ContractPart>,
}

/// One part of the contract: a setting, a tool, or a hook.
///
/// ```
/// use protolink::PartKind;
/// use protolink::prelude::*;
/// use protolink::testing::ScriptedModel;
///
/// let agent = Agent::builder("a")
///     .model(ScriptedModel::new([]))
///     .before_model("be_brief", |request: &mut ModelRequest<'_>| {
///         request.history().append_system("Be brief.")
///     })
///     .build()?;
/// let hook = agent.fingerprint().parts().iter().find(|part| part.kind == PartKind::BeforeModel);
/// assert!(hook.is_some_and(|part| part.name == "be_brief" && part.without_source));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContractPart {
    /// What kind of part it is.
    pub kind: PartKind,
    /// Its name among its kind.
    pub name: String,
    /// The digest of its content.
    pub digest: Digest,
    /// Whether it is a hook whose source is not known, a closure or a plain function: what it does is not covered
    /// (contract S6).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_source: bool,
}

/// The kinds of parts.
///
/// ```
/// use protolink::{PartKind, Stage};
///
/// assert_eq!(PartKind::from(Stage::AfterTool), PartKind::AfterTool);
/// assert_eq!(PartKind::Tool.to_string(), "tool");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PartKind {
    /// A setting of the agent.
    Setting,
    /// A tool.
    Tool,
    /// A hook of `before_model`.
    BeforeModel,
    /// A hook of `after_tool`.
    AfterTool,
    /// A hook of `before_complete`.
    BeforeComplete,
}

impl fmt::Display for PartKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Setting => "setting",
            Self::Tool => "tool",
            Self::BeforeModel => "before_model hook",
            Self::AfterTool => "after_tool hook",
            Self::BeforeComplete => "before_complete hook",
        })
    }
}

impl From<Stage> for PartKind {
    fn from(stage: Stage) -> Self {
        match stage {
            Stage::BeforeModel => Self::BeforeModel,
            Stage::AfterTool => Self::AfterTool,
            Stage::BeforeComplete => Self::BeforeComplete,
        }
    }
}

/// One difference between two contracts. It says in words what changed.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::ScriptedModel;
/// use protolink::{ContractChange, PartKind};
///
/// /// Search the catalogue.
/// #[tool]
/// fn search(query: String) -> String {
///     query
/// }
///
/// let before = Agent::builder("a").model(ScriptedModel::new([])).build()?;
/// let after =
///     Agent::builder("a").model(ScriptedModel::new([])).tools(tools![search]).build()?;
/// let changes = before.fingerprint().diff(after.fingerprint());
/// assert_eq!(
///     changes,
///     [ContractChange::Added { kind: PartKind::Tool, name: "search".to_owned() }]
/// );
/// assert_eq!(changes[0].to_string(), "the tool `search` was added");
/// assert_eq!(changes[0].kind(), Some(PartKind::Tool));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContractChange {
    /// The part is new.
    Added {
        /// What kind of part it is.
        kind: PartKind,
        /// Its name.
        name: String,
    },
    /// The part is gone.
    Removed {
        /// What kind of part it is.
        kind: PartKind,
        /// Its name.
        name: String,
    },
    /// The hook stands at another place among the hooks of its stage.
    Moved {
        /// What kind of part it is.
        kind: PartKind,
        /// Its name.
        name: String,
        /// Where it stood, counted from 1.
        from: usize,
        /// Where it stands, counted from 1.
        to: usize,
    },
    /// The part has another content.
    Changed {
        /// What kind of part it is.
        kind: PartKind,
        /// Its name.
        name: String,
    },
    /// The fingerprints were made by different versions of the algorithm.
    Algorithm {
        /// The recorded version.
        from: u32,
        /// The current version.
        to: u32,
    },
}

impl fmt::Display for ContractChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { kind: PartKind::Setting, name } => write!(f, "the {name} changed"),
            Self::Added { kind: PartKind::Setting, name } => write!(f, "the {name} was added"),
            Self::Removed { kind: PartKind::Setting, name } => write!(f, "the {name} was removed"),
            Self::Added { kind, name } => write!(f, "the {kind} `{name}` was added"),
            Self::Removed { kind, name } => write!(f, "the {kind} `{name}` was removed"),
            Self::Moved { kind, name, from, to } => {
                write!(f, "the {kind} `{name}` moved from place {from} to place {to}")
            }
            Self::Changed { kind, name } => write!(f, "the {kind} `{name}` changed"),
            Self::Algorithm { from, to } => {
                write!(f, "the fingerprint's algorithm changed from version {from} to version {to}")
            }
        }
    }
}

impl ContractChange {
    /// What kind of part changed; `None` where it is the algorithm.
    #[must_use]
    pub fn kind(&self) -> Option<PartKind> {
        match self {
            Self::Added { kind, .. }
            | Self::Removed { kind, .. }
            | Self::Moved { kind, .. }
            | Self::Changed { kind, .. } => Some(*kind),
            Self::Algorithm { .. } => None,
        }
    }
}

impl ContractFingerprint {
    const VERSION: u32 = 1;

    pub(crate) fn of_parts(parts: Vec<ContractPart>) -> Self {
        let (digest, _) = Digest::of_json(&(Self::VERSION, &parts));
        Self { version: Self::VERSION, digest, parts }
    }

    /// The digest of all parts in their order.
    #[must_use]
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The parts, settings first, then tools, then hooks in the order in which they run.
    #[must_use]
    pub fn parts(&self) -> &[ContractPart] {
        &self.parts
    }

    /// What changed from this contract to `other`, in words; empty where they are the same.
    #[must_use]
    pub fn diff(&self, other: &Self) -> Vec<ContractChange> {
        if self.version != other.version {
            return vec![ContractChange::Algorithm { from: self.version, to: other.version }];
        }
        if self.digest == other.digest {
            return Vec::new();
        }
        let kinds =
            [PartKind::Setting, PartKind::Tool, PartKind::BeforeModel, PartKind::AfterTool, PartKind::BeforeComplete];
        kinds.into_iter().flat_map(|kind| diff_kind(kind, &self.of_kind(kind), &other.of_kind(kind))).collect()
    }

    fn of_kind(&self, kind: PartKind) -> Vec<&ContractPart> {
        self.parts.iter().filter(|part| part.kind == kind).collect()
    }
}

impl fmt::Display for ContractFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cf{}:{}", self.version, self.digest)
    }
}

fn diff_kind(kind: PartKind, before: &[&ContractPart], after: &[&ContractPart]) -> Vec<ContractChange> {
    let find = |parts: &[&ContractPart], name: &str| parts.iter().position(|part| part.name == name);
    let mut changes = Vec::new();
    for part in before {
        if find(after, &part.name).is_none() {
            changes.push(ContractChange::Removed { kind, name: part.name.clone() });
        }
    }
    // Places are compared among the parts that both have, so that one added hook does not move all that follow.
    let common = |parts: &[&ContractPart], others: &[&ContractPart]| -> Vec<String> {
        parts.iter().filter(|part| find(others, &part.name).is_some()).map(|part| part.name.clone()).collect()
    };
    let (old_order, new_order) = (common(before, after), common(after, before));
    for part in after {
        let name = part.name.clone();
        let Some(was) = find(before, &part.name) else {
            changes.push(ContractChange::Added { kind, name });
            continue;
        };
        if before[was].digest != part.digest {
            changes.push(ContractChange::Changed { kind, name: name.clone() });
        }
        let place = |order: &[String]| order.iter().position(|candidate| *candidate == name);
        // The order of tools and settings means nothing to a run.
        if !matches!(kind, PartKind::Setting | PartKind::Tool)
            && let (Some(from), Some(to)) = (place(&old_order), place(&new_order))
            && from != to
        {
            changes.push(ContractChange::Moved { kind, name, from: from + 1, to: to + 1 });
        }
    }
    changes
}

/// The part that a hook is: its path, signature, source, tool and deadline. Where it stands is its place in the list.
pub(crate) fn hook_part(hook: &HookIdentity, occurrence: usize) -> ContractPart {
    let content = (&hook.signature, &hook.fingerprint, &hook.tool, &hook.timeout);
    ContractPart {
        kind: hook.stage.into(),
        name: hook.key(occurrence),
        digest: Digest::of_json(&content).0,
        without_source: hook.fingerprint.is_none(),
    }
}

/// The part that a setting is.
pub(crate) fn setting_part(name: &str, value: &impl Serialize) -> ContractPart {
    ContractPart {
        kind: PartKind::Setting,
        name: name.to_owned(),
        digest: Digest::of_json(value).0,
        without_source: false,
    }
}

/// The part that a tool is.
pub(crate) fn tool_part(name: &str, content: &impl Serialize) -> ContractPart {
    ContractPart {
        kind: PartKind::Tool,
        name: name.to_owned(),
        digest: Digest::of_json(content).0,
        without_source: false,
    }
}
