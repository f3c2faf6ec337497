//! The three stages, as the macros speak of them.

use proc_macro2::{Ident, Span};

/// A point of the agent loop at which hooks run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    BeforeModel,
    AfterTool,
    BeforeComplete,
}

impl Stage {
    pub(crate) const ALL: [Self; 3] = [Self::BeforeModel, Self::AfterTool, Self::BeforeComplete];

    /// The name of the attribute, and of the function that registers a hook.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BeforeModel => "before_model",
            Self::AfterTool => "after_tool",
            Self::BeforeComplete => "before_complete",
        }
    }

    /// The name of the type and of the variant of `Stage` in the runtime crate.
    pub(crate) fn type_name(self, span: Span) -> Ident {
        let name = match self {
            Self::BeforeModel => "BeforeModel",
            Self::AfterTool => "AfterTool",
            Self::BeforeComplete => "BeforeComplete",
        };
        Ident::new(name, span)
    }

    /// The name of what a hook of this stage takes first.
    pub(crate) fn subject_name(self) -> &'static str {
        match self {
            Self::BeforeModel => "ModelRequest",
            Self::AfterTool => "ToolObservation",
            Self::BeforeComplete => "FinalResponse",
        }
    }

    /// What a hook of this stage takes first.
    pub(crate) fn subject(self) -> &'static str {
        match self {
            Self::BeforeModel => "&mut ModelRequest<'_>",
            Self::AfterTool => "&mut ToolObservation<'_>",
            Self::BeforeComplete => "&mut FinalResponse<'_>",
        }
    }
}

/// The stage whose attribute this is, by the last segment of its path.
pub(crate) fn of_attribute(attribute: &syn::Attribute) -> Option<Stage> {
    let last = &attribute.path().segments.last()?.ident;
    Stage::ALL.into_iter().find(|stage| last == stage.name())
}

/// Whether this is the attribute of a stage.
pub(crate) fn is_hook(attribute: &syn::Attribute) -> bool {
    of_attribute(attribute).is_some()
}

/// Whether this is the attribute of a tool, by the last segment of its path.
pub(crate) fn is_tool(attribute: &syn::Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "tool")
}
