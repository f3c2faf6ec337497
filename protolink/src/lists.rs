//! Lists of hooks and tools, as the builder takes them.

/// Lists hooks in the order in which they run: `.hooks(hooks![select_context, billing::normalize])`.
///
/// It takes the names of annotated functions; an import of the function is an import of the hook.
#[macro_export]
macro_rules! hooks {
    ($($hook:ty),* $(,)?) => {
        |mut builder| {
            $(builder.hook_of::<$hook>();)*
            builder
        }
    };
}

/// Lists tools: `.tools(tools![search, delete_document])`.
///
/// It takes the names of annotated functions; an import of the function is an import of the tool.
#[macro_export]
macro_rules! tools {
    ($($tool:ty),* $(,)?) => {
        |builder| {
            $(let builder = builder.tool::<$tool>();)*
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
