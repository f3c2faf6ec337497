//! Attribute macros of `protolink`. Depend on `protolink`, not on this crate.
//!
//! Each macro parses what it is given (`function`, `options`), checks what can be said without types (`check`),
//! and generates a registration whose types the compiler checks at the user's own tokens. What can live in the
//! runtime crate as a trait does.

mod alias;
#[cfg(test)]
mod any_input;
mod attributes;
mod check;
mod collect;
mod digest;
mod direct;
mod facts;
#[cfg(test)]
mod fingerprint_table;
mod from_ref;
mod function;
mod generics;
mod hook;
mod krate;
mod lifetimes;
mod options;
mod place;
mod sha256;
mod signature;
mod signature_text;
mod spans;
mod stage;
mod stub;
mod text;
mod thunk;
mod tokens;
mod tool;
mod walk;

use proc_macro::TokenStream;

use crate::stage::Stage;

// The documentation of each stands where `protolink` re-exports it; what is said here comes after it.

/// Implemented in `protolink-macros`; depend on `protolink`, which has the documentation.
#[proc_macro_attribute]
pub fn before_model(args: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(Stage::BeforeModel, args.into(), &item.into()).into()
}

/// Implemented in `protolink-macros`; depend on `protolink`, which has the documentation.
#[proc_macro_attribute]
pub fn after_tool(args: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(Stage::AfterTool, args.into(), &item.into()).into()
}

/// Implemented in `protolink-macros`; depend on `protolink`, which has the documentation.
#[proc_macro_attribute]
pub fn before_complete(args: TokenStream, item: TokenStream) -> TokenStream {
    hook::expand(Stage::BeforeComplete, args.into(), &item.into()).into()
}

/// Implemented in `protolink-macros`; depend on `protolink`, which has the documentation.
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(args.into(), &item.into()).into()
}

/// Implemented in `protolink-macros`; depend on `protolink`, which has the documentation.
#[proc_macro_attribute]
pub fn hook_module(args: TokenStream, item: TokenStream) -> TokenStream {
    collect::expand(args.into(), &item.into()).into()
}

/// Implemented in `protolink-macros`; depend on `protolink`, which has the documentation.
#[proc_macro_derive(FromRef, attributes(from_ref))]
pub fn from_ref(item: TokenStream) -> TokenStream {
    from_ref::expand(item.into()).into()
}
