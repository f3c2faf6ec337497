//! The future of an async hook, without a future around it that only converts its result.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{BoxError, HookOutput};

/// A future whose output is a hook's: the conversion happens where it is polled.
trait PollHook {
    fn poll_hook(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), BoxError>>;
}

impl<F> PollHook for F
where
    F: Future,
    F::Output: HookOutput,
{
    fn poll_hook(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.poll(context).map(HookOutput::into_hook_result)
    }
}

/// The future of one call of an async hook, boxed once.
#[doc(hidden)]
pub struct HookFuture<'a>(Pin<Box<dyn PollHook + Send + 'a>>);

impl<'a> HookFuture<'a> {
    pub fn new<F>(future: F) -> Self
    where
        F: Future + Send + 'a,
        F::Output: HookOutput,
    {
        Self(Box::pin(future))
    }
}

impl Future for HookFuture<'_> {
    type Output = Result<(), BoxError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll_hook(context)
    }
}

impl fmt::Debug for HookFuture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookFuture")
    }
}
