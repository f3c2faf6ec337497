//! How a function becomes a hook of an agent: what the attribute macros generate, in types.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use super::Untyped;
use super::code::Code;
use super::facts;
use super::future::HookFuture;
use super::stage::{HookStage, Stage};
use crate::fingerprint::Fingerprint;

/// A boxed future that can move between threads.
///
/// ```
/// use protolink::BoxFuture;
///
/// fn later(number: u32) -> BoxFuture<'static, u32> {
///     Box::pin(async move { number })
/// }
/// # let _ = later(3);
/// ```
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Any error, as hooks and tools hand it over; it can be downcast to its own type again.
///
/// ```
/// use protolink::BoxError;
///
/// let error: BoxError = "the answer is empty".into();
/// assert_eq!(error.to_string(), "the answer is empty");
/// ```
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

/// Compile-time facts of one hook; a constant in the binary.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::{Hook, Stage};
///
/// #[before_model]
/// fn be_brief(request: &mut ModelRequest<'_>) {
///     request.history().append_system("Be brief.");
/// }
///
/// let meta = be_brief::META;
/// assert_eq!((meta.stage, meta.name), (Stage::BeforeModel, "be_brief"));
/// assert_eq!(meta.signature, "fn be_brief(request: &mut ModelRequest<'_>)");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookMeta {
    /// The stage.
    pub stage: Stage,
    /// The function's name.
    pub name: &'static str,
    /// The path of the module that holds it.
    pub module: &'static str,
    /// The source file.
    pub file: &'static str,
    /// The line in it.
    pub line: u32,
    /// The digest of its source; `None` for a closure or a plain function, whose source is not known.
    pub fingerprint: Option<Fingerprint>,
    /// Its signature as written.
    pub signature: &'static str,
    /// The tool that an `after_tool` hook is for, where it is for one.
    pub tool: Option<&'static str>,
    /// How long an async hook may take.
    pub timeout: Option<Duration>,
}

impl HookMeta {
    /// What an attribute says of its function.
    #[doc(hidden)]
    #[must_use]
    pub const fn of(facts: &'static str, tool: Option<&'static str>, timeout: Option<Duration>) -> Self {
        Self { tool, timeout, ..facts::read(facts) }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn new(stage: Stage, name: &'static str, module: &'static str) -> Self {
        Self { stage, name, module, file: "", line: 0, fingerprint: None, signature: "", tool: None, timeout: None }
    }
}

/// A function with `#[before_model]`, `#[after_tool]` or `#[before_complete]`, as a type of the function's own name.
///
/// ```
/// use protolink::Hook;
/// use protolink::prelude::*;
///
/// #[before_complete]
/// fn not_empty(_response: &mut FinalResponse<'_>) {}
///
/// fn name_of<H: Hook>(_hook: H) -> &'static str {
///     H::META.name
/// }
/// assert_eq!(name_of(not_empty {}), "not_empty");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a hook",
    label = "not a hook",
    note = "annotate the function with `#[before_model]`, `#[after_tool]` or `#[before_complete]`"
)]
pub trait Hook: Sized + 'static {
    /// What its attribute wrote of it.
    #[doc(hidden)]
    const FACTS: &'static str;
    #[doc(hidden)]
    const TOOL: Option<&'static str> = None;
    #[doc(hidden)]
    const TIMEOUT: Option<Duration> = None;

    /// What is known of it at compile time.
    const META: &'static HookMeta = &HookMeta::of(Self::FACTS, Self::TOOL, Self::TIMEOUT);
}

/// A hook that an agent with the state `S` and the answer type `A` can run.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::{AgentBuilder, HookFor};
///
/// #[before_model]
/// fn be_brief(request: &mut ModelRequest<'_>) {
///     request.history().append_system("Be brief.");
/// }
///
/// /// Adds one hook and a rule that always goes with it.
/// fn with_rule<S: Send + Sync + 'static>(
///     builder: AgentBuilder<S>,
///     hook: impl HookFor<S>,
/// ) -> AgentBuilder<S> {
///     builder.hook(hook).budget(Budget::new().max_steps(8))
/// }
/// # let _ =
/// with_rule(Agent::builder("a"), be_brief {});
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a hook of an agent whose state is `{S}`",
    label = "not a hook here",
    note = "a function with `#[before_model]`, `#[after_tool]` or `#[before_complete]` goes into `.hooks(hooks![name])` or `.hook(name {{}})`; a plain function or a closure goes to `.before_model(\"name\", f)`, `.after_tool(\"name\", f)` or `.before_complete(\"name\", f)`"
)]
pub trait HookFor<S: 'static, A = Untyped>: Hook {
    /// What of it is called.
    #[doc(hidden)]
    const CODE: &'static dyn Code<S>;

    /// What the builder keeps of it.
    #[doc(hidden)]
    const REGISTERED: Registered<S> =
        Registered { facts: Self::FACTS, tool: Self::TOOL, timeout: Self::TIMEOUT, code: Self::CODE };
}

/// A hook as the builder keeps it. Its facts are read when an agent is built: a compiler takes a thousand times as long
/// for them.
#[doc(hidden)]
pub struct Registered<S: 'static> {
    facts: &'static str,
    tool: Option<&'static str>,
    timeout: Option<Duration>,
    pub(crate) code: &'static dyn Code<S>,
}

impl<S: 'static> Registered<S> {
    pub(crate) fn meta(&self) -> HookMeta {
        HookMeta::of(self.facts, self.tool, self.timeout)
    }
}

impl<S: 'static> fmt::Debug for Registered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("meta", &self.meta()).finish_non_exhaustive()
    }
}

pub(super) type SyncFn<St, S> = for<'a, 'r> fn(&'a mut <St as HookStage>::Subject<'r>, &'a S) -> Result<(), BoxError>;
pub(super) type AsyncFn<St, S> = for<'a, 'r> fn(&'a mut <St as HookStage>::Subject<'r>, &'a S) -> HookFuture<'a>;
pub(super) type SyncClosure<St> =
    dyn for<'a, 'r> Fn(&'a mut <St as HookStage>::Subject<'r>) -> Result<(), BoxError> + Send + Sync;
pub(super) type AsyncClosure<St> =
    dyn for<'a, 'r> Fn(&'a mut <St as HookStage>::Subject<'r>) -> HookFuture<'a> + Send + Sync;

/// How a hook is called that is not called as it is. A sync one is a plain function pointer and pays for no future
/// (contract S3).
#[doc(hidden)]
pub enum Thunk<St: HookStage, S> {
    Sync(SyncFn<St, S>),
    Async(AsyncFn<St, S>),
}

impl<St: HookStage, S> fmt::Debug for Thunk<St, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sync(_) => "Sync",
            Self::Async(_) => "Async",
        })
    }
}

/// What a hook may return: `()`, or `Result<(), E>` (contract S4).
///
/// ```
/// use protolink::prelude::*;
///
/// #[before_model]
/// fn never_fails(_request: &mut ModelRequest<'_>) {}
///
/// #[before_model]
/// fn may_fail(request: &mut ModelRequest<'_>) -> Result<(), std::num::ParseIntError> {
///     let _limit: usize = request.history().system().parse()?;
///     Ok(())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a hook returns `()` or `Result<(), E>`, not `{Self}`",
    label = "hooks return `()` or `Result<(), E>`",
    note = "a hook edits what it is given in place; it has no value to return"
)]
pub trait HookOutput {
    /// What the loop makes of it.
    ///
    /// ```
    /// use protolink::HookOutput;
    ///
    /// assert!(().into_hook_result().is_ok());
    /// assert!(Err::<(), _>("too long").into_hook_result().is_err());
    /// ```
    ///
    /// # Errors
    /// The hook's own error.
    fn into_hook_result(self) -> Result<(), BoxError>;

    /// The future of an async hook that returns this.
    #[doc(hidden)]
    fn boxed<'a, F>(future: F) -> HookFuture<'a>
    where
        Self: Sized,
        F: Future<Output = Self> + Send + 'a,
    {
        HookFuture::new(future)
    }
}

impl HookOutput for () {
    #[inline]
    fn into_hook_result(self) -> Result<(), BoxError> {
        Ok(())
    }
}

impl<E: IntoHookError> HookOutput for Result<(), E> {
    #[inline]
    fn into_hook_result(self) -> Result<(), BoxError> {
        self.map_err(IntoHookError::into_hook_error)
    }
}

/// What a closure returns whose body is `todo!()`: `!`, which is no name for a type yet, but can be written here.
type Never = <fn() -> ! as Returns>::Output;

/// What a function returns.
#[doc(hidden)]
pub trait Returns {
    type Output;
}

impl<T> Returns for fn() -> T {
    type Output = T;
}

#[diagnostic::do_not_recommend]
impl HookOutput for Never {
    fn into_hook_result(self) -> Result<(), BoxError> {
        self
    }
}

/// What a hook may fail with: any `std::error::Error + Send + Sync + 'static`, a boxed one, `String` or `&str`.
///
/// ```
/// use protolink::IntoHookError;
///
/// assert_eq!("too long".into_hook_error().to_string(), "too long");
/// assert_eq!(std::fmt::Error.into_hook_error().to_string(), std::fmt::Error.to_string());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a hook",
    label = "not an error",
    note = "implement `std::error::Error` for `{Self}`, or return `Result<(), String>`; what is boxed is `Box<dyn Error + Send + Sync>`"
)]
pub trait IntoHookError {
    /// The error as the loop carries it.
    fn into_hook_error(self) -> BoxError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> IntoHookError for E {
    fn into_hook_error(self) -> BoxError {
        self.into()
    }
}

/// A plain async function, or an async closure that captures nothing, as a hook of the stage.
#[doc(hidden)]
pub trait AsyncHook<T>: Fn(T) -> <Self as AsyncHook<T>>::Fut {
    type Fut: Future<Output = <Self as AsyncHook<T>>::Out>;
    type Out: HookOutput;
}

impl<F, Fut, T> AsyncHook<T> for F
where
    F: Fn(T) -> Fut,
    Fut: Future,
    Fut::Output: HookOutput,
{
    type Fut = Fut;
    type Out = Fut::Output;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::BeforeModel;

    #[test]
    fn s2_a_hook_for_a_tool_and_one_with_a_timeout_say_so_beside_their_other_facts() {
        let plain = HookMeta::of("T", None, None);
        let whole = HookMeta::of("T", Some("search"), Some(Duration::from_millis(40)));
        assert_eq!((whole.tool, whole.timeout), (Some("search"), Some(Duration::from_millis(40))));
        assert_eq!(HookMeta { tool: None, timeout: None, ..whole }, plain);
    }

    #[test]
    fn a_registered_hook_prints_its_facts_and_how_it_is_called() {
        static CODE: Thunk<BeforeModel, ()> = Thunk::Sync(|_, ()| Ok(()));
        let facts = "M0000000000000000000000000000000000000000000000000000000000000000trim\n0\napp::rules\n1\nrules.rs";
        let text = format!("{:?}", Registered { facts, tool: None, timeout: None, code: &CODE });
        assert!(text.contains("trim") && text.contains("app::rules"), "{text}");
        let later: Thunk<BeforeModel, ()> = Thunk::Async(|_, ()| HookFuture::new(async {}));
        assert_eq!((format!("{CODE:?}"), format!("{later:?}")), ("Sync".to_owned(), "Async".to_owned()));
    }
}
