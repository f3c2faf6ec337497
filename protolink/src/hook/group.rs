//! A reusable group of hooks (contract S2).

use std::fmt;
use std::marker::PhantomData;

use super::Untyped;
use super::closure::StageFn;
use super::code::{BoundCode, Code};
use super::registration::{HookFor, HookMeta, Registered};
use super::run::HookIdentity;
use super::stage::{AfterTool, BeforeComplete, BeforeModel, Stage};
use crate::lists::HookList;

/// What of a hook is called: a closure has its state.
pub(crate) enum EntryCode<S: 'static> {
    Annotated(&'static dyn Code<S>),
    Closure(BoundCode),
}

/// A hook that waits for its state.
pub(crate) struct HookEntry<S: 'static> {
    pub(crate) identity: HookIdentity,
    pub(crate) code: EntryCode<S>,
    /// Whether it was annotated, so that it is refused when it is given twice.
    pub(crate) annotated: bool,
}

impl<S: 'static> HookEntry<S> {
    pub(crate) fn annotated(hook: &Registered<S>) -> Self {
        Self { identity: HookIdentity::of(&hook.meta()), code: EntryCode::Annotated(hook.code), annotated: true }
    }

    pub(crate) fn named(stage: Stage, name: String, code: BoundCode) -> Self {
        let identity = HookIdentity { name, ..HookIdentity::of(&HookMeta::new(stage, "", "")) };
        Self { identity, code: EntryCode::Closure(code), annotated: false }
    }
}

/// What the hook `H` can be added to: an agent's builder, or a group.
#[doc(hidden)]
pub trait AddHook<H>: Sized {
    #[must_use]
    fn add_hook(self) -> Self;
}

impl<S: 'static, A, H: HookFor<S, A>> AddHook<H> for AgentHooks<S, A> {
    fn add_hook(mut self) -> Self {
        self.hook_of::<H>();
        self
    }
}

/// A group of hooks that keeps its own order in the place where it is registered, for use by several agents.
///
/// ```
/// use protolink::AgentHooks;
/// use protolink::prelude::*;
///
/// #[before_model]
/// fn trim(request: &mut ModelRequest<'_>) {
///     while request.history().len() > 20 {
///         request.history().remove(0);
///     }
/// }
///
/// fn house_rules<S: Send + Sync + 'static>() -> AgentHooks<S> {
///     AgentHooks::new().hooks(hooks![trim]).before_complete(
///         "not_empty",
///         |response: &mut FinalResponse<'_>| match response.text() {
///             Some("") => Err("the answer is empty"),
///             _ => Ok(()),
///         },
///     )
/// }
/// # let _ = Agent::builder("a").group(house_rules());
/// ```
pub struct AgentHooks<S: 'static, A = Untyped> {
    pub(crate) entries: Vec<HookEntry<S>>,
    answer: PhantomData<fn(A)>,
}

impl<S: 'static, A> AgentHooks<S, A> {
    /// A group without hooks.
    #[must_use]
    pub fn new() -> Self {
        Self { entries: Vec::new(), answer: PhantomData }
    }

    /// Adds an annotated hook: `.hook(select_context {})`.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// use protolink::AgentHooks;
    ///
    /// #[before_model]
    /// fn be_brief(request: &mut ModelRequest<'_>) {
    ///     request.history().append_system("Be brief.");
    /// }
    ///
    /// let group: AgentHooks<()> = AgentHooks::new().hook(be_brief {});
    /// # let _ = group;
    /// ```
    #[must_use]
    pub fn hook<H: HookFor<S, A>>(mut self, _hook: H) -> Self {
        self.hook_of::<H>();
        self
    }

    /// The hook of a type, for [`hooks!`](crate::hooks).
    #[doc(hidden)]
    pub fn hook_of<H: HookFor<S, A>>(&mut self) {
        self.annotated(&H::REGISTERED);
    }

    /// Adds annotated hooks in their order: `.hooks(hooks![select_context, keep_hits])`.
    #[must_use]
    pub fn hooks(self, list: impl HookList<Self>) -> Self {
        list(self)
    }

    /// Adds a closure or a plain function as a `before_model` hook of this name.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// use protolink::AgentHooks;
    ///
    /// let group: AgentHooks<()> = AgentHooks::new()
    ///     .before_model("be_brief", |request: &mut ModelRequest<'_>| {
    ///         request.history().append_system("Be brief.")
    ///     });
    /// assert_eq!(format!("{group:?}"), r#"["be_brief"]"#);
    /// ```
    #[must_use]
    pub fn before_model<K>(self, name: impl Into<String>, hook: impl StageFn<BeforeModel, K>) -> Self {
        self.named(Stage::BeforeModel, name, hook.into_code())
    }

    /// Adds a closure or a plain function as an `after_tool` hook of this name.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// use protolink::AgentHooks;
    ///
    /// let group: AgentHooks<()> = AgentHooks::new()
    ///     .after_tool("hide", |observation: &mut ToolObservation<'_>| {
    ///         observation.set_result("[hidden]")
    ///     });
    /// # let _ = group;
    /// ```
    #[must_use]
    pub fn after_tool<K>(self, name: impl Into<String>, hook: impl StageFn<AfterTool, K>) -> Self {
        self.named(Stage::AfterTool, name, hook.into_code())
    }

    /// Adds a closure or a plain function as a `before_complete` hook of this name.
    #[must_use]
    pub fn before_complete<K>(self, name: impl Into<String>, hook: impl StageFn<BeforeComplete, K>) -> Self {
        self.named(Stage::BeforeComplete, name, hook.into_code())
    }

    // One copy for all hooks: what is generic over the hook stays small.
    #[inline(never)]
    fn annotated(&mut self, hook: &Registered<S>) {
        self.entries.push(HookEntry::annotated(hook));
    }

    fn named(mut self, stage: Stage, name: impl Into<String>, code: BoundCode) -> Self {
        self.entries.push(HookEntry::named(stage, name.into(), code));
        self
    }
}

impl<S: 'static, A> Default for AgentHooks<S, A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: 'static, A> fmt::Debug for AgentHooks<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| entry.identity.path())).finish()
    }
}
