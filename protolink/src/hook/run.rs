//! Running one hook: its state bound to it, panics caught, its deadline kept.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::future::HookFuture;
use super::registration::{AsyncClosure, AsyncFn, BoxError, HookMeta, SyncClosure, SyncFn, Thunk};
use super::stage::{HookStage, Stage};
use crate::fingerprint::Fingerprint;

/// What names a hook in errors, events, configuration and fingerprints.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::ScriptedModel;
///
/// let agent = Agent::builder("a")
///     .model(ScriptedModel::new([]))
///     .before_model("be_brief", |request: &mut ModelRequest<'_>| {
///         request.history().append_system("Be brief.")
///     })
///     .build()?;
/// let hook = &agent.config().hooks[0];
/// assert_eq!(hook.path(), "be_brief");
/// assert_eq!(hook.fingerprint, None, "the source of a closure is not known");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookIdentity {
    /// The stage.
    pub stage: Stage,
    /// Its name: the function's, or the one given at registration.
    pub name: String,
    /// The path of the module that holds it; empty for a closure.
    pub module: String,
    /// The digest of its source, where that is known.
    pub fingerprint: Option<Fingerprint>,
    /// Its signature as written.
    pub signature: String,
    /// The tool that it is for, where it is for one.
    pub tool: Option<String>,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

impl HookIdentity {
    pub(crate) fn of(meta: &HookMeta) -> Self {
        Self {
            stage: meta.stage,
            name: meta.name.to_owned(),
            module: meta.module.to_owned(),
            fingerprint: meta.fingerprint,
            signature: meta.signature.to_owned(),
            tool: meta.tool.map(str::to_owned),
            timeout: meta.timeout,
        }
    }

    /// The path of the hook: module and name.
    #[must_use]
    pub fn path(&self) -> String {
        if self.module.is_empty() { self.name.clone() } else { format!("{}::{}", self.module, self.name) }
    }

    fn is_at_path_of(&self, other: &Self) -> bool {
        self.module == other.module && self.name == other.name
    }

    /// The path, told from that of hooks that stand before it in its stage under the same one.
    pub(crate) fn key(&self, occurrence: usize) -> String {
        if occurrence == 0 { self.path() } else { format!("{}#{}", self.path(), occurrence + 1) }
    }
}

/// What runs when a hook is called, its state bound to it: the loop does not know the state's type.
pub(crate) enum HookCode<St: HookStage> {
    Sync(SyncCode<St>),
    Async(AsyncCode<St>),
}

impl<St: HookStage> HookCode<St> {
    pub(super) fn of<S: Send + Sync + 'static>(thunk: &Thunk<St, S>, state: Arc<S>) -> Self {
        match *thunk {
            Thunk::Sync(hook) => Self::Sync(SyncCode::new(SyncThunk(hook, state))),
            Thunk::Async(hook) => Self::Async(AsyncCode(Box::new(AsyncThunk(hook, state)))),
        }
    }
}

/// A sync hook: no future is made to call it (contract S3).
pub(crate) struct SyncCode<St: HookStage>(Box<dyn RunsNow<St>>);

impl<St: HookStage> SyncCode<St> {
    pub(super) fn new(hook: impl RunsNow<St> + 'static) -> Self {
        Self(Box::new(hook))
    }

    pub(super) fn closure(hook: Box<SyncClosure<St>>) -> Self {
        Self::new(SyncBox(hook))
    }

    /// Calls the hook. A panic is an error like its own (contract S5).
    #[inline]
    pub(crate) fn call(&self, subject: &mut St::Subject<'_>) -> Result<(), BoxError> {
        // What a hook mostly returns is nothing, and nothing is all that has to leave the place where panics are caught.
        let mut result = Ok(());
        let caught = catching(|| {
            if let Err(error) = self.0.call(subject) {
                result = Err(error);
            }
        });
        match caught {
            Ok(()) => result,
            Err(panic) => Err(Box::new(HookPanicked::new(panic.as_ref()))),
        }
    }
}

/// An async hook: it is boxed once a call.
pub(crate) struct AsyncCode<St: HookStage>(Box<dyn RunsLater<St>>);

impl<St: HookStage> AsyncCode<St> {
    pub(super) fn closure(hook: Box<AsyncClosure<St>>) -> Self {
        Self(Box::new(AsyncBox(hook)))
    }

    /// Calls the hook and waits for it. A panic and a passed deadline are errors like its own (contract S5, S9).
    pub(crate) async fn call(&self, subject: &mut St::Subject<'_>, within: Option<Duration>) -> Result<(), BoxError> {
        let future = match catching(move || self.0.start(subject)) {
            Ok(future) => CatchPanic(future),
            Err(panic) => return Err(Box::new(HookPanicked::new(panic.as_ref()))),
        };
        match within {
            None => future.await,
            Some(after) => match tokio::time::timeout(after, future).await {
                Ok(result) => result,
                Err(_) => Err(Box::new(HookTimedOut { after })),
            },
        }
    }
}

pub(super) trait RunsNow<St: HookStage>: Send + Sync {
    fn call(&self, subject: &mut St::Subject<'_>) -> Result<(), BoxError>;
}

trait RunsLater<St: HookStage>: Send + Sync {
    fn start<'a>(&'a self, subject: &'a mut St::Subject<'_>) -> HookFuture<'a>;
}

/// A sync hook with its state, or a closure that has all it needs. These are types of their own, and not the pointers
/// and closures themselves: an implementation for a type that has a stage's subject inside is not found by the compiler.
struct SyncThunk<St: HookStage, S>(SyncFn<St, S>, Arc<S>);
struct AsyncThunk<St: HookStage, S>(AsyncFn<St, S>, Arc<S>);
struct SyncBox<St: HookStage>(Box<SyncClosure<St>>);
struct AsyncBox<St: HookStage>(Box<AsyncClosure<St>>);

impl<St: HookStage, S: Send + Sync> RunsNow<St> for SyncThunk<St, S> {
    fn call(&self, subject: &mut St::Subject<'_>) -> Result<(), BoxError> {
        (self.0)(subject, &self.1)
    }
}

impl<St: HookStage, S: Send + Sync> RunsLater<St> for AsyncThunk<St, S> {
    fn start<'a>(&'a self, subject: &'a mut St::Subject<'_>) -> HookFuture<'a> {
        (self.0)(subject, &self.1)
    }
}

impl<St: HookStage> RunsNow<St> for SyncBox<St> {
    fn call(&self, subject: &mut St::Subject<'_>) -> Result<(), BoxError> {
        (self.0)(subject)
    }
}

impl<St: HookStage> RunsLater<St> for AsyncBox<St> {
    fn start<'a>(&'a self, subject: &'a mut St::Subject<'_>) -> HookFuture<'a> {
        (self.0)(subject)
    }
}

/// A hook of an agent, ready to run.
pub(crate) struct BoundHook<St: HookStage> {
    pub(crate) identity: HookIdentity,
    /// Tells it from every other hook of its stage, two of one path among them.
    pub(crate) key: String,
    pub(crate) code: HookCode<St>,
}

impl<St: HookStage> BoundHook<St> {
    /// Adds a hook to those of its stage.
    pub(crate) fn push(hooks: &mut Vec<Self>, identity: HookIdentity, code: HookCode<St>) {
        let occurrence = hooks.iter().filter(|hook| hook.identity.is_at_path_of(&identity)).count();
        let key = identity.key(occurrence);
        hooks.push(Self { identity, key, code });
    }

    pub(crate) fn name(&self) -> &str {
        &self.identity.name
    }
}

fn catching<R>(call: impl FnOnce() -> R) -> std::thread::Result<R> {
    catch_unwind(AssertUnwindSafe(call))
}

struct CatchPanic<'a>(HookFuture<'a>);

impl Future for CatchPanic<'_> {
    type Output = Result<(), BoxError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match catching(|| Pin::new(&mut self.0).poll(context)) {
            Ok(poll) => poll,
            Err(panic) => Poll::Ready(Err(Box::new(HookPanicked::new(panic.as_ref())))),
        }
    }
}

/// A hook panicked; found as the `source` of [`Error::Hook`](crate::Error::Hook).
///
/// ```
/// use protolink::HookPanicked;
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// #[before_model]
/// fn broken(_request: &mut ModelRequest<'_>) {
///     panic!("no catalogue");
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::text("done")]);
/// let agent = Agent::builder("a").model(model).hooks(hooks![broken]).build()?;
/// let Err(Error::Hook { source, .. }) = agent.invoke("Go.").await else { panic!("it fails") };
/// let panicked = source.downcast_ref::<HookPanicked>().ok_or("it panicked")?;
/// assert_eq!(panicked.message, "no catalogue");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hook panicked: {message}")]
pub struct HookPanicked {
    /// What it panicked with, where that is text.
    pub message: String,
}

impl HookPanicked {
    fn new(panic: &(dyn Any + Send)) -> Self {
        Self { message: panic_message(panic) }
    }
}

/// An async hook did not return within its deadline; found as the `source` of [`Error::Hook`](crate::Error::Hook).
///
/// ```
/// use protolink::HookTimedOut;
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
/// use std::time::Duration;
///
/// #[before_model(timeout = "5ms")]
/// async fn slow(_request: &mut ModelRequest<'_>) {
///     std::future::pending().await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::text("done")]);
/// let agent = Agent::builder("a").model(model).hooks(hooks![slow]).build()?;
/// let Err(Error::Hook { source, .. }) = agent.invoke("Go.").await else { panic!("it fails") };
/// assert_eq!(source.downcast_ref(), Some(&HookTimedOut { after: Duration::from_millis(5) }));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hook did not return within {after:?}")]
pub struct HookTimedOut {
    /// The deadline.
    pub after: Duration,
}

/// What an error of the application says of itself; the loop is not at the mercy of how it is written.
pub(crate) fn text_of(error: &dyn fmt::Display) -> String {
    catching(|| error.to_string())
        .unwrap_or_else(|panic| format!("an error that panics when it is shown: {}", panic_message(panic.as_ref())))
}

/// The text of a panic, where it has one.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a value that is no text".to_owned())
}
