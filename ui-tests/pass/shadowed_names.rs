#![allow(non_camel_case_types, dead_code, unused_macros, reason = "the names are the point")]
//! The generated code means no type, module or macro of the user's.
use protolink::{
    Agent, FinalResponse, FromRef, ModelRequest, State, ToolObservation, after_tool, before_complete, before_model,
    hook_module, tool,
};

struct Result;
struct Ok;
struct Err;
struct Option;
struct Some;
struct None;
struct Box;
struct Vec;
struct String;
struct Send;
struct Sync;
struct Sized;
struct Fn;
struct Future;
struct Into;
struct Clone;
struct Copy;
struct Hook;
struct HookFor;
struct Registered;
struct Tool;
struct ToolFor;
struct u8;
struct u32;
struct str;
struct bool;
struct usize;
mod core {}
mod std {}
mod alloc {}
macro_rules! panic {
    () => {};
}
macro_rules! file {
    () => {
        compile_error!("shadowed")
    };
}
macro_rules! line {
    () => {
        compile_error!("shadowed")
    };
}
macro_rules! module_path {
    () => {
        compile_error!("shadowed")
    };
}

#[derive(::core::clone::Clone)]
struct S;
#[derive(::core::clone::Clone)]
struct A;
#[derive(::core::clone::Clone)]
struct S_;

#[derive(FromRef)]
struct App {
    s: S,
    a: A,
    s_: S_,
}

#[before_model]
fn sync_hook(_request: &mut ModelRequest<'_>, _s: State<S>, _a: State<A>, _s_: State<S_>) {}

#[before_model(timeout = "2s")]
async fn async_hook(_request: &mut ModelRequest<'_>, _s: State<S>) {}

#[before_complete]
fn check(_response: &mut FinalResponse<'_>, _a: State<A>) {}

#[before_complete]
async fn check_async(_response: &mut FinalResponse<'_>, _s: State<S>) {}

#[tool(capability = "web", idempotent)]
async fn search(query: ::std::string::String, #[default(3)] limit: i64, _s: State<S>) -> i64 {
    let _ = query;
    limit
}

#[tool]
fn nothing() {}

#[after_tool(tool = search)]
fn observe(_observation: &mut ToolObservation<'_, i64>, _s: State<S>) {}

#[after_tool(tool = search)]
async fn observe_async(_observation: &mut ToolObservation<'_, i64>, _s: State<S>) {}

#[hook_module]
mod rules {
    use protolink::{ModelRequest, before_model};

    struct Option;

    #[before_model]
    fn in_module(_request: &mut ModelRequest<'_>) {}
}

pub(crate) fn main() {
    let _ = Agent::builder("a")
        .state(App { s: S, a: A, s_: S_ })
        .tools(protolink::tools![search, nothing])
        .hooks(protolink::hooks![sync_hook, async_hook, check, check_async, observe, observe_async])
        .hooks(rules::hooks);
}
