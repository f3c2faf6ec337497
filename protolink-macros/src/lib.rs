//! Attribute macros of `protolink`. Depend on `protolink`, not on this crate.
//!
//! Each macro parses what it is given (`function`, `options`), checks what can be said without types (`check`),
//! and generates a registration whose types the compiler checks at the user's own tokens. What can live in the
//! runtime crate as a trait does.

#[cfg(test)]
mod any_input;
mod check;
mod collect;
mod digest;
mod direct;
#[cfg(test)]
mod fingerprint_table;
mod from_ref;
mod function;
mod generics;
mod hook;
mod krate;
mod options;
mod place;
mod sha256;
mod signature;
mod spans;
mod stage;
mod stub;
mod text;
mod thunk;
mod tokens;
mod tool;

use proc_macro::TokenStream;

use crate::stage::Stage;

/// Makes a function a hook that runs before each request to the model.
///
/// The function takes `&mut ModelRequest<'_>` and after it any number of `State<T>`, and returns `()` or
/// `Result<(), E>`. It stays a plain function, callable in a test; beside it the macro declares a type of the same
/// name, by which it is registered: `.hooks(hooks![select_context])`.
///
/// Options: `timeout = "2s"` (async functions only) and `crate = path`, where the runtime crate is found when it is
/// not called `protolink`.
///
/// Put the attribute first: an attribute macro above it runs first, and the fingerprint is then that of its output.
/// The name is also the name of a type, so it must not be the name of a type in the same module.
#[proc_macro_attribute]
pub fn before_model(args: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(Stage::BeforeModel, args.into(), &item.into()).into()
}

/// Makes a function a hook that runs after each successful tool call.
///
/// The function takes `&mut ToolObservation<'_>`, or, with `tool = search`, `&mut ToolObservation<'_, O>` with the
/// output type of that tool; it then runs for that tool only. The rest is as for `#[before_model]`.
#[proc_macro_attribute]
pub fn after_tool(args: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(Stage::AfterTool, args.into(), &item.into()).into()
}

/// Makes a function a hook that runs before an answer leaves.
///
/// The function takes `&mut FinalResponse<'_>`, or `&mut FinalResponse<'_, T>` for an agent whose answers are `T`.
/// The rest is as for `#[before_model]`.
#[proc_macro_attribute]
pub fn before_complete(args: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(Stage::BeforeComplete, args.into(), &item.into()).into()
}

/// Makes a function a tool.
///
/// The documentation comments of the function and of its parameters become the descriptions that the model reads.
/// A parameter is an argument (`serde::Deserialize` and `schemars::JsonSchema`), a `State<T>`, or a `ToolContext`.
/// An `Option` and a parameter with `#[default(..)]` may be left out by the model. The function returns `O` or
/// `Result<O, E>`.
///
/// Options: `name = "search"`, `type = Search` (another name for the type by which the tool is registered),
/// `capability = "documents.delete"` (any number), `idempotent`, `on_error = "fail"` or `"report"`, `crate = path`.
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(args.into(), &item.into()).into()
}

/// Collects the hooks of an inline module, in source order.
///
/// The module gets `hooks`, for `.hooks(my_hooks::hooks)`, and the constants `HOOKS`, `HOOK_COUNT` and `FINGERPRINT`.
/// A hook that a `macro_rules!` inside the module makes is not seen: list it in `hooks![..]`.
///
/// It is the contract's `#[hooks] mod`; the name `hooks` is that of the list, `hooks![..]`.
///
/// Options: `crate = path`.
#[proc_macro_attribute]
pub fn hook_module(args: TokenStream, item: TokenStream) -> TokenStream {
    collect::expand(args.into(), &item.into()).into()
}

/// Implements `FromRef` for the type of each field, so that hooks and tools can take it as `State<T>`.
///
/// `#[from_ref(skip)]` leaves a field out. The types are cloned out of the state.
#[proc_macro_derive(FromRef, attributes(from_ref))]
pub fn from_ref(item: TokenStream) -> TokenStream {
    from_ref::expand(item.into()).into()
}
