//! What the macros hand over of a hook, and how it is made ready to run.
//!
//! Most sync hooks are called as they are, by their function pointers: what calls them is compiled here, once for each
//! signature, and not in the application, once for each hook.

use std::fmt;
use std::sync::Arc;

use super::registration::Thunk;
use super::run::{HookCode, RunsNow, SyncCode};
use super::stage::{AfterTool, BeforeComplete, BeforeModel};
use super::{BoxError, FinalResponse, ModelRequest, ToolObservation};
use crate::state::FromRef;

/// What of a hook is called, for an agent with the state `S`.
#[doc(hidden)]
pub trait Code<S>: Sync {
    /// With the state from which it takes its parameters.
    fn bind(&self, state: Arc<S>) -> BoundCode
    where
        S: Send + Sync + 'static;
}

/// A hook of any stage, ready to run.
#[doc(hidden)]
pub struct BoundCode(pub(crate) AnyCode);

impl fmt::Debug for BoundCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoundCode")
    }
}

pub(crate) enum AnyCode {
    BeforeModel(HookCode<BeforeModel>),
    AfterTool(HookCode<AfterTool>),
    BeforeComplete(HookCode<BeforeComplete>),
}

/// A hook that is called as it is, with its state.
struct Direct<F, S> {
    parts: F,
    state: Arc<S>,
}

/// What the macros write of a hook that is called as it is: its pointer, how each `State<T>` is made of a `T`, and for
/// one that can fail, how its error is made into the loop's. There is a type for each number of states; with more of
/// them, a hook gets a thunk.
macro_rules! direct {
    ($stage:ident, $subject:ident, $infallible:ident, $fallible:ident, $($param:ident $value:ident $make:ident)*) => {
        #[derive(Debug)]
        pub struct $infallible<$($param, $value),*>(
            pub for<'a, 'r> fn(&'a mut $subject<'r>, $($param),*),
            $(pub fn($value) -> $param,)*
        );

        impl<S, $($param: 'static, $value: FromRef<S> + 'static),*> Code<S> for $infallible<$($param, $value),*> {
            fn bind(&self, state: Arc<S>) -> BoundCode
            where
                S: Send + Sync + 'static,
            {
                let Self(hook, $($make),*) = self;
                let parts = $infallible(*hook, $(*$make),*);
                BoundCode(AnyCode::$stage(HookCode::Sync(SyncCode::new(Direct { parts, state }))))
            }
        }

        impl<S, $($param, $value),*> RunsNow<$stage> for Direct<$infallible<$($param, $value),*>, S>
        where
            S: Send + Sync,
            $($value: FromRef<S>,)*
        {
            fn call(&self, subject: &mut $subject<'_>) -> Result<(), BoxError> {
                let $infallible(hook, $($make),*) = &self.parts;
                hook(subject, $($make(FromRef::from_ref(&*self.state))),*);
                Ok(())
            }
        }

        #[derive(Debug)]
        pub struct $fallible<E, $($param, $value),*>(
            pub for<'a, 'r> fn(&'a mut $subject<'r>, $($param),*) -> Result<(), E>,
            pub fn(E) -> BoxError,
            $(pub fn($value) -> $param,)*
        );

        impl<S, E: 'static, $($param: 'static, $value: FromRef<S> + 'static),*> Code<S>
            for $fallible<E, $($param, $value),*>
        {
            fn bind(&self, state: Arc<S>) -> BoundCode
            where
                S: Send + Sync + 'static,
            {
                let Self(hook, error, $($make),*) = self;
                let parts = $fallible(*hook, *error, $(*$make),*);
                BoundCode(AnyCode::$stage(HookCode::Sync(SyncCode::new(Direct { parts, state }))))
            }
        }

        impl<S, E, $($param, $value),*> RunsNow<$stage> for Direct<$fallible<E, $($param, $value),*>, S>
        where
            S: Send + Sync,
            $($value: FromRef<S>,)*
        {
            fn call(&self, subject: &mut $subject<'_>) -> Result<(), BoxError> {
                let $fallible(hook, error, $($make),*) = &self.parts;
                hook(subject, $($make(FromRef::from_ref(&*self.state))),*).map_err(error)
            }
        }
    };
}

macro_rules! code {
    ($stage:ident, $subject:ident, $module:ident) => {
        #[doc(hidden)]
        pub mod $module {
            use super::*;

            direct!($stage, $subject, Hook0, Fallible0,);
            direct!($stage, $subject, Hook1, Fallible1, P1 T1 make1);
            direct!($stage, $subject, Hook2, Fallible2, P1 T1 make1 P2 T2 make2);
            direct!($stage, $subject, Hook3, Fallible3, P1 T1 make1 P2 T2 make2 P3 T3 make3);
            direct!($stage, $subject, Hook4, Fallible4, P1 T1 make1 P2 T2 make2 P3 T3 make3 P4 T4 make4);
        }

        impl<S> Code<S> for Thunk<$stage, S> {
            fn bind(&self, state: Arc<S>) -> BoundCode
            where
                S: Send + Sync + 'static,
            {
                BoundCode(AnyCode::$stage(HookCode::<$stage>::of(self, state)))
            }
        }
    };
}

code!(BeforeModel, ModelRequest, before_model);
code!(AfterTool, ToolObservation, after_tool);
code!(BeforeComplete, FinalResponse, before_complete);
