//! The builder: it reads as a sentence, and refuses at `build()` what types cannot refuse.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::{Agent, TypedAgent};
use crate::durable::RunStore;
use crate::error::BuildError;
use crate::event::Observer;
use crate::hook::{
    AddHook, AfterTool, AgentHooks, AnswerType, BeforeComplete, BeforeModel, HookEntry, HookFor, Registered, StageFn,
    Untyped,
};
use crate::lists::{HookList, ToolList};
use crate::model::Model;
use crate::rules::{Approver, Budget, ContextPolicy, Policy, Retry};
use crate::settings::{AnswerSpec, Settings};
use crate::state::NoState;
use crate::tool::{BoundTool, DynTool, ToolFor, ask_user_tool};

/// Puts an agent together.
///
/// `S` is the type of its state, from which hooks and tools take `State<T>` parameters; `A` is the type of its answers.
pub struct AgentBuilder<S = NoState, A = Untyped> {
    state: Arc<S>,
    settings: Settings,
    answer: PhantomData<fn(A)>,
}

impl AgentBuilder {
    pub(crate) fn new(name: String) -> Self {
        Self { state: Arc::new(NoState), settings: Settings::new(name), answer: PhantomData }
    }

    pub(crate) fn restoring(settings: Settings) -> Self {
        Self { state: Arc::new(NoState), settings, answer: PhantomData }
    }
}

impl<A> AgentBuilder<NoState, A> {
    /// Gives the agent its state; hooks and tools that take `State<_>` come after it. What was registered before stays.
    #[must_use]
    pub fn state<S: Send + Sync + 'static>(self, state: S) -> AgentBuilder<S, A> {
        AgentBuilder { state: Arc::new(state), settings: self.settings, answer: PhantomData }
    }
}

impl<S> AgentBuilder<S> {
    /// Gives the agent's answers a type: the model is told its JSON Schema, an answer that does not fit goes back to
    /// the model as long as [`max_revisions`](Self::max_revisions) allows, and hooks on `FinalResponse<'_, T>` can be
    /// registered.
    #[must_use]
    pub fn answer<T: AnswerType + schemars::JsonSchema>(mut self) -> AgentBuilder<S, T> {
        self.settings.answer = Some(AnswerSpec::for_hooks::<T>());
        AgentBuilder { state: self.state, settings: self.settings, answer: PhantomData }
    }
}

impl<S, A> AgentBuilder<S, A> {
    /// Everything that it was told; the type of its answers is among it.
    pub(crate) fn into_settings(self) -> Settings {
        self.settings
    }

    /// What the model is told in the system message, before anything else.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.settings.instructions = instructions.into();
        self
    }

    /// The model to ask.
    #[must_use]
    pub fn model(mut self, model: impl Model) -> Self {
        self.settings.model = Some(Arc::new(model));
        self
    }

    /// Adds a tool that was made at run time.
    #[must_use]
    pub fn dyn_tool(mut self, tool: DynTool) -> Self {
        self.settings.tools.push(tool.bind());
        self
    }

    /// Adds tools that were made at run time: those of an MCP server, for example.
    #[must_use]
    pub fn dyn_tools(self, tools: impl IntoIterator<Item = DynTool>) -> Self {
        tools.into_iter().fold(self, Self::dyn_tool)
    }

    /// Adds the built-in tool `ask_user`, by which the model asks the user a question. The run pauses until
    /// [`answer`](crate::ResumeBuilder::answer) gives the reply; it needs a store.
    #[must_use]
    pub fn ask_user(mut self) -> Self {
        self.settings.tools.push(ask_user_tool());
        self
    }

    /// The authority over tool calls; everything is allowed where none is set (contract P1).
    #[must_use]
    pub fn policy(mut self, policy: impl Policy) -> Self {
        self.settings.policy = Arc::new(policy);
        self
    }

    /// Asks a person while the run waits, where the policy requires approval.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.settings.approver = Some(Arc::new(approver));
        self
    }

    /// How long one tool call may take; a call that takes longer counts as failed.
    #[must_use]
    pub fn tool_timeout(mut self, timeout: Duration) -> Self {
        self.settings.tool_timeout = Some(timeout);
        self
    }

    /// How many calls of one turn run at the same time; 8 unless said otherwise, and 1 at least.
    #[must_use]
    pub fn max_parallel_tools(mut self, calls: usize) -> Self {
        self.settings.max_parallel_tools = calls.max(1);
        self
    }

    /// Whether events carry the contents of messages and results, and not their digests only (contract T3).
    #[must_use]
    pub fn capture_content(mut self, capture: bool) -> Self {
        self.settings.capture_content = capture;
        self
    }

    /// The limits of a run that brings none of its own.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.settings.budget = budget;
        self
    }

    /// How much of a history a request may hold.
    #[must_use]
    pub fn context_policy(mut self, policy: ContextPolicy) -> Self {
        self.settings.context_policy = Some(policy);
        self
    }

    /// How often a request is sent again after a transient error.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.settings.retry = retry;
        self
    }

    /// Adds one that watches; several are told in the order in which they were added.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.settings.observers.push(Arc::new(observer));
        self
    }

    /// Keeps runs in this store, so that they survive their process.
    #[must_use]
    pub fn durable(mut self, store: impl RunStore) -> Self {
        self.settings.store = Some(Arc::new(store));
        self
    }

    /// How long a worker owns a durable run without a sign of life; half a minute unless said otherwise.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.settings.lease = lease;
        self
    }

    /// Says that behaviour changed where no fingerprint can see it: in functions that hooks call, in prompts that are
    /// loaded (contract D6).
    #[must_use]
    pub fn execution_version(mut self, version: impl Into<String>) -> Self {
        self.settings.execution_version = version.into();
        self
    }

    /// How many refused calls a run takes before it fails; 2 unless said otherwise (contract M9).
    #[must_use]
    pub fn max_tool_corrections(mut self, corrections: u32) -> Self {
        self.settings.max_tool_corrections = corrections;
        self
    }

    /// How often an answer may go back to the model: because a hook asks for a revision, or because it does not fit the
    /// type that was asked for. Unless it is said, a hook may not ask, and an answer that does not fit goes back twice.
    #[must_use]
    pub fn max_revisions(mut self, revisions: u32) -> Self {
        self.settings.max_revisions = Some(revisions);
        self
    }

    /// Whether every hook runs twice on equal inputs and must do the same both times, for tests and debug builds.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.settings.strict = strict;
        self
    }
}

impl<S: Send + Sync + 'static, A, H: HookFor<S, A>> AddHook<H> for AgentBuilder<S, A> {
    fn add_hook(mut self) -> Self {
        self.hook_of::<H>();
        self
    }
}

impl<S: Send + Sync + 'static, A> AgentBuilder<S, A> {
    /// Adds a tool: `.tool::<search>()`.
    #[must_use]
    pub fn tool<T: ToolFor<S>>(mut self) -> Self {
        self.settings.tools.push(BoundTool::new(T::definition(), Arc::clone(&self.state)));
        self
    }

    /// Adds tools: `.tools(tools![search, delete_document])`.
    #[must_use]
    pub fn tools(self, list: impl ToolList<Self>) -> Self {
        list(self)
    }

    /// Adds an annotated hook: `.hook(select_context {})`.
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

    /// Adds a reusable group of hooks in its own order.
    #[must_use]
    pub fn group(mut self, group: AgentHooks<S, A>) -> Self {
        for entry in group.entries {
            self.push(entry);
        }
        self
    }

    /// Adds a closure or a plain function as a `before_model` hook of this name. It has no fingerprint of its source.
    #[must_use]
    pub fn before_model<K>(self, name: impl Into<String>, hook: impl StageFn<BeforeModel, K>) -> Self {
        self.group(AgentHooks::new().before_model(name, hook))
    }

    /// Adds a closure or a plain function as an `after_tool` hook of this name. It has no fingerprint of its source.
    #[must_use]
    pub fn after_tool<K>(self, name: impl Into<String>, hook: impl StageFn<AfterTool, K>) -> Self {
        self.group(AgentHooks::new().after_tool(name, hook))
    }

    /// Adds a closure or a plain function as a `before_complete` hook of this name. It has no fingerprint of its source.
    #[must_use]
    pub fn before_complete<K>(self, name: impl Into<String>, hook: impl StageFn<BeforeComplete, K>) -> Self {
        self.group(AgentHooks::new().before_complete(name, hook))
    }

    // One copy for all hooks: what is generic over the hook stays small.
    #[inline(never)]
    fn annotated(&mut self, hook: &Registered<S>) {
        self.push(HookEntry::annotated(hook));
    }

    #[inline(never)]
    fn push(&mut self, entry: HookEntry<S>) {
        if entry.annotated {
            self.settings.annotated.push((entry.identity.stage, entry.identity.path()));
        }
        self.settings.hooks.push(entry, Arc::clone(&self.state));
    }
}

impl<S: Send + Sync + 'static> AgentBuilder<S> {
    /// Makes the agent.
    ///
    /// # Errors
    /// [`BuildError`] when it has no model, two tools of one name, one annotated hook twice, a hook for a tool that it
    /// lacks, or not what a saved configuration names (contract S10, T4, P4, P5).
    pub fn build(self) -> Result<Agent, BuildError> {
        self.settings.finish().map(Agent::new)
    }
}

/// The end of a builder whose answers have a type.
impl<S: Send + Sync + 'static, T: AnswerType + serde::de::DeserializeOwned> AgentBuilder<S, T> {
    /// Makes an agent whose answers are values of `T`.
    ///
    /// # Errors
    /// [`BuildError`], as for any agent.
    pub fn build(self) -> Result<TypedAgent<T>, BuildError> {
        self.settings.finish().map(|inner| TypedAgent::new(Agent::new(inner)))
    }
}

impl<S, A> fmt::Debug for AgentBuilder<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder").field("name", &self.settings.name).finish_non_exhaustive()
    }
}
