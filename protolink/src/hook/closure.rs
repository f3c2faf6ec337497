//! Closures and plain functions as hooks: they have a name and no fingerprint (contract S6).

use super::code::{AnyCode, BoundCode};
use super::future::HookFuture;
use super::registration::{AsyncClosure, AsyncHook, HookOutput};
use super::run::{AsyncCode, HookCode, SyncCode};
use super::stage::{AfterTool, BeforeComplete, BeforeModel, HookStage};
use super::{FinalResponse, ModelRequest, ToolObservation};

/// A closure with an annotated parameter, or a plain function, that can be a hook of the stage `St`: sync, async
/// without captures, or one that returns a boxed future.
///
/// `Kind` says which of them it is, and is found by inference.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a hook of the stage `{St}`",
    label = "not a hook of this stage",
    note = "write the parameter's type, as in `|request: &mut ModelRequest<'_>| {{ .. }}`; an async closure must not capture: take what it needs by `State<T>`, or return `Box::pin(async move {{ .. }})`"
)]
pub trait StageFn<St: HookStage, Kind> {
    #[doc(hidden)]
    fn into_code(self) -> BoundCode;
}

/// A sync hook.
#[doc(hidden)]
#[derive(Debug)]
pub struct SyncKind;

/// An async hook.
#[doc(hidden)]
#[derive(Debug)]
pub struct AsyncKind;

macro_rules! stage_fn {
    ($stage:ident, $subject:ident) => {
        impl<F, O> StageFn<$stage, (SyncKind, O)> for F
        where
            F: for<'a, 'r> Fn(&'a mut $subject<'r>) -> O + Send + Sync + 'static,
            O: HookOutput,
        {
            fn into_code(self) -> BoundCode {
                let hook = Box::new(move |subject: &mut $subject<'_>| self(subject).into_hook_result());
                BoundCode(AnyCode::$stage(HookCode::Sync(SyncCode::closure(hook))))
            }
        }

        impl<F> StageFn<$stage, AsyncKind> for F
        where
            F: for<'a, 'r> AsyncHook<&'a mut $subject<'r>, Fut: Send> + Send + Sync + 'static,
        {
            fn into_code(self) -> BoundCode {
                let hook: Box<AsyncClosure<$stage>> =
                    Box::new(move |subject: &mut $subject<'_>| HookFuture::new(self(subject)));
                BoundCode(AnyCode::$stage(HookCode::Async(AsyncCode::closure(hook))))
            }
        }
    };
}

stage_fn!(BeforeModel, ModelRequest);
stage_fn!(AfterTool, ToolObservation);
stage_fn!(BeforeComplete, FinalResponse);
