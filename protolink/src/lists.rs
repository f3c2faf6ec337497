//! Lists of hooks and tools, as the builder takes them.

/// Lists hooks in the order in which they run: `.hooks(hooks![select_context, billing::normalize])`.
///
/// It takes the names of annotated functions; an import of the function is an import of the hook.
#[macro_export]
macro_rules! hooks {
    ($($hook:ty),* $(,)?) => {
        |builder| {
            $(let builder = builder.hook::<$hook>(<$hook as $crate::Hook>::HOOK);)*
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
