//! The attribute macros, each with a page of its own: what the function takes, the options, and every error with its rule.
//!
//! The lists of errors are made by `ui-tests/tests/pages`.

#[doc = include_str!("macros/after_tool.md")]
#[doc = include_str!("macros/after_tool_errors.md")]
pub use protolink_macros::after_tool;

#[doc = include_str!("macros/before_complete.md")]
#[doc = include_str!("macros/before_complete_errors.md")]
pub use protolink_macros::before_complete;

#[doc = include_str!("macros/before_model.md")]
#[doc = include_str!("macros/before_model_errors.md")]
pub use protolink_macros::before_model;

#[doc = include_str!("macros/from_ref.md")]
#[doc = include_str!("macros/from_ref_errors.md")]
pub use protolink_macros::FromRef;

#[doc = include_str!("macros/hook_module.md")]
#[doc = include_str!("macros/hook_module_errors.md")]
pub use protolink_macros::hook_module;

#[doc = include_str!("macros/tool.md")]
#[doc = include_str!("macros/tool_errors.md")]
pub use protolink_macros::tool;
