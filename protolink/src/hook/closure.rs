//! Closures and plain functions as hooks: they have a name and no fingerprint (contract S6).

use super::code::{AnyCode, BoundCode};
use super::future::HookFuture;
use super::registration::{AsyncClosure, AsyncHook, HookOutput};
use super::run::{AsyncCode, HookCode, SyncCode};
use super::stage::{AfterTool, BeforeComplete, BeforeModel, HookStage};
use super::{FinalResponse, ModelRequest, ToolObservation};

/// A closure with an annotated parameter, or a plain function, that can be a hook of the stage `St`: sync, or async
/// without captures.
///
/// `Kind` says which of them it is, and is found by inference. An async closure that captures is refused, since its
/// futures borrow from it: an annotated `async fn` takes what it needs by [`State`](crate::State).
///
/// ```
/// use protolink::prelude::*;
///
/// fn be_brief(request: &mut ModelRequest<'_>) {
///     request.history().append_system("Be brief.");
/// }
///
/// async fn be_polite(request: &mut ModelRequest<'_>) -> Result<(), String> {
///     request.history().append_system("Be polite.");
///     Ok(())
/// }
///
/// let limit = 20;
/// # let _ =
/// Agent::builder("a")
///     .before_model("be_brief", be_brief)
///     .before_model("be_polite", be_polite)
///     .before_model("trim", move |request: &mut ModelRequest<'_>| {
///         request
///             .history()
///             .retain(|message| message.text().is_none_or(|text| text.len() > limit));
///     });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a hook of the stage `{St}`",
    label = "not a hook of this stage",
    note = "it takes one parameter, and its type is written: `&mut ModelRequest<'_>` for `before_model`, `&mut ToolObservation<'_>` for `after_tool`, `&mut FinalResponse<'_>` for `before_complete`",
    note = "it returns `()` or `Result<(), E>`, or is async; an async closure must not capture: an `async fn` with the stage's attribute takes what it needs by `State<T>`"
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
