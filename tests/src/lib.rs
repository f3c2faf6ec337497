//! What the tests of the contract share: tools that count, logs, and the ways in which a run can be driven.

mod agents;
pub mod durable;
mod log;
#[cfg(feature = "mcp")]
pub mod mcp;
mod paths;
mod spans;
pub mod stores;
mod transcript;

pub use agents::{Boom, agent, agent_once, effect, failing_tool, search_tool, value_tool};
pub use log::{Counter, Log};
pub use paths::{Ended, Path, drain};
pub use spans::Spans;
pub use transcript::{assert_paired, said, sent};

/// Does not compile where the type implements the trait.
///
/// ```
/// protolink_tests::not_impl!(std::rc::Rc<u8>: Send);
/// ```
///
/// ```compile_fail
/// protolink_tests::not_impl!(Vec<u8>: Send);
/// ```
#[macro_export]
macro_rules! not_impl {
    ($type:ty: $($bound:tt)+) => {
        const _: fn() = || {
            // Two candidates for one path are ambiguous: the second is one where the bound holds.
            trait AmbiguousIfImplemented<A> {
                fn some_item() {}
            }
            struct Implemented;
            impl<T: ?Sized> AmbiguousIfImplemented<()> for T {}
            impl<T: ?Sized + $($bound)+> AmbiguousIfImplemented<Implemented> for T {}
            let _ = <$type as AmbiguousIfImplemented<_>>::some_item;
        };
    };
}

#[cfg(doctest)]
mod documents;

#[cfg(doctest)]
mod refused;
