//! Lists of hooks and tools, as the builder takes them.

/// A list of hooks for the builder or group `B`: `hooks![..]`, or a function that registers them.
///
/// ```
/// use protolink::prelude::*;
///
/// #[before_model]
/// fn be_brief(request: &mut ModelRequest<'_>) {
///     request.history().append_system("Be brief.");
/// }
///
/// /// The hooks of every agent here.
/// fn house_rules<S: Send + Sync + 'static>(
///     builder: protolink::AgentBuilder<S>,
/// ) -> protolink::AgentBuilder<S> {
///     builder.hooks(hooks![be_brief])
/// }
/// # let _ =
/// Agent::builder("a").hooks(house_rules);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of hooks",
    label = "write `hooks![..]` around the names",
    note = "`.hooks(..)` takes `hooks![select_context, keep_hits]`, or the function `hooks` of a `#[hook_module]`"
)]
pub trait HookList<B>: FnOnce(B) -> B {}

#[diagnostic::do_not_recommend]
impl<B, F: FnOnce(B) -> B> HookList<B> for F {}

/// A list of tools for the builder `B`: `tools![..]`, or a function that adds them.
///
/// ```
/// use protolink::prelude::*;
///
/// /// Search the catalogue.
/// #[tool]
/// fn search(query: String) -> String {
///     query
/// }
///
/// /// The tools of every agent here.
/// fn house_tools(builder: protolink::AgentBuilder) -> protolink::AgentBuilder {
///     builder.tools(tools![search])
/// }
/// # let _ =
/// Agent::builder("a").tools(house_tools);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of tools",
    label = "write `tools![..]` around the names",
    note = "`.tools(..)` takes `tools![search, delete_document]`"
)]
pub trait ToolList<B>: FnOnce(B) -> B {}

#[diagnostic::do_not_recommend]
impl<B, F: FnOnce(B) -> B> ToolList<B> for F {}

/// Lists hooks in the order in which they run: `.hooks(hooks![select_context, billing::normalize])`.
///
/// It takes the names of annotated functions; an import of the function is an import of the hook. What is no hook, or
/// asks for state that the agent does not have, is refused at its name in the list.
///
/// ```
/// use protolink::prelude::*;
///
/// #[before_model]
/// fn be_brief(request: &mut ModelRequest<'_>) {
///     request.history().append_system("Be brief.");
/// }
///
/// mod billing {
///     use protolink::prelude::*;
///
///     #[before_complete]
///     pub fn no_prices(response: &mut FinalResponse<'_>) -> Result<(), String> {
///         if response.text().is_some_and(|text| text.contains('€')) {
///             Err("it names a price".to_owned())
///         } else {
///             Ok(())
///         }
///     }
/// }
/// # let _ =
/// Agent::builder("a").hooks(hooks![be_brief, billing::no_prices]);
/// ```
#[macro_export]
macro_rules! hooks {
    ($first:literal $($rest:tt)*) => {
        $crate::__private::compile_error!(
            "`hooks![..]` takes the names of functions, without quotes: `hooks![select_context]`"
        )
    };
    (| $($rest:tt)*) => {
        $crate::__private::compile_error!(
            "`hooks![..]` takes the names of annotated functions; a closure goes to `.before_model(\"name\", closure)`, \
             `.after_tool(\"name\", closure)` or `.before_complete(\"name\", closure)`"
        )
    };
    (move $($rest:tt)*) => { $crate::hooks![| $($rest)*] };
    (async $($rest:tt)*) => { $crate::hooks![| $($rest)*] };
    ($($hook:ty),* $(,)?) => {
        |mut builder| {
            $(builder.hook_of::<($hook)>();)*
            builder
        }
    };
}

/// Lists tools: `.tools(tools![search, delete_document])`.
///
/// It takes the names of annotated functions; an import of the function is an import of the tool.
///
/// ```
/// use protolink::prelude::*;
///
/// /// Search the catalogue.
/// #[tool]
/// fn search(query: String) -> String {
///     query
/// }
/// # let _ =
/// Agent::builder("a").tools(tools![search]);
/// ```
#[macro_export]
macro_rules! tools {
    ($first:literal $($rest:tt)*) => {
        $crate::__private::compile_error!(
            "`tools![..]` takes the names of functions, without quotes: `tools![search]`"
        )
    };
    ($($tool:ty),* $(,)?) => {
        |builder| {
            $(let builder = builder.tool::<($tool)>();)*
            builder
        }
    };
}

/// The fingerprint of hooks in their order, a constant expression: `hooks_fingerprint![select_context, keep_hits]`.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::{ListFingerprint, hooks_fingerprint};
///
/// #[before_model]
/// fn first(_request: &mut ModelRequest<'_>) {}
///
/// #[before_model]
/// fn second(_request: &mut ModelRequest<'_>) {}
///
/// const ONE_WAY: ListFingerprint = hooks_fingerprint![first, second];
/// const OTHER_WAY: ListFingerprint = hooks_fingerprint![second, first];
/// assert_ne!(ONE_WAY, OTHER_WAY);
/// ```
#[macro_export]
macro_rules! hooks_fingerprint {
    ($($hook:ty),* $(,)?) => {
        $crate::ListFingerprint::of(&[$(<$hook as $crate::Hook>::META),*])
    };
}
