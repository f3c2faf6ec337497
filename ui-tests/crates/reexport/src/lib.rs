//! A crate that hands the library on, and has a macro of its own around it.

pub use protolink as agents;

/// Makes a hook, for a crate that does not know the library.
#[macro_export]
macro_rules! silent_hook {
    ($name:ident) => {
        #[$crate::agents::before_model(crate = $crate::agents)]
        fn $name(_request: &mut $crate::agents::ModelRequest<'_>) {}
    };
}
