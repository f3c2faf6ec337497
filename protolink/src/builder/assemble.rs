//! The builder: it reads as a sentence, and refuses at `build()` what types cannot refuse.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

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
use crate::rules::{Approver, Policy};
use crate::settings::{AnswerSpec, Settings};
use crate::state::NoState;
use crate::tool::{BoundTool, DynTool, ToolFor, ask_user_tool};

/// Puts an agent together.
///
/// `S` is the type of its state, from which hooks and tools take `State<T>` parameters; `A` is the type of its answers.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// /// Search the catalogue.
/// #[tool]
/// async fn search(query: String, State(lamps): State<Vec<String>>) -> Vec<String> {
///     lamps.into_iter().filter(|lamp| lamp.contains(&query)).collect()
/// }
///
/// #[before_model]
/// fn be_brief(request: &mut ModelRequest<'_>) {
///     request.history().append_system("Answer in one sentence.");
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("helper")
///     .instructions("Answer from the catalogue.")
///     .model(ScriptedModel::new([Reply::text("There is a desk lamp.")]))
///     .state(vec!["desk lamp".to_owned(), "floor lamp".to_owned()])
///     .tools(tools![search])
///     .hooks(hooks![be_brief])
///     .budget(Budget::new().max_steps(8))
///     .build()?;
/// assert_eq!(agent.invoke("Which lamps?").await?.text(), "There is a desk lamp.");
/// # Ok(())
/// # }
/// ```
pub struct AgentBuilder<S = NoState, A = Untyped> {
    state: Arc<S>,
    pub(super) settings: Settings,
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
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// #[derive(Clone)]
    /// struct Limit(usize);
    ///
    /// #[derive(Clone, FromRef)]
    /// struct App {
    ///     limit: Limit,
    /// }
    ///
    /// #[before_model]
    /// fn trim(request: &mut ModelRequest<'_>, State(limit): State<Limit>) {
    ///     while request.history().len() > limit.0 {
    ///         request.history().remove(0);
    ///     }
    /// }
    /// # let _ =
    /// Agent::builder("a").state(App { limit: Limit(20) }).hooks(hooks![trim]);
    /// ```
    #[must_use]
    pub fn state<S: Send + Sync + 'static>(self, state: S) -> AgentBuilder<S, A> {
        AgentBuilder { state: Arc::new(state), settings: self.settings, answer: PhantomData }
    }
}

impl<S> AgentBuilder<S> {
    /// Gives the agent's answers a type: the model is told its JSON Schema, an answer that does not fit goes back to
    /// the model as long as [`max_revisions`](Self::max_revisions) allows, and hooks on `FinalResponse<'_, T>` can be
    /// registered.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    /// struct Verdict {
    ///     score: u8,
    /// }
    ///
    /// #[before_complete]
    /// fn in_range(response: &mut FinalResponse<'_, Verdict>) {
    ///     response.answer_mut().score = response.answer().score.min(10);
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text(r#"{ "score": 12 }"#)]);
    /// let critic = Agent::builder("critic")
    ///     .model(model)
    ///     .answer::<Verdict>()
    ///     .hooks(hooks![in_range])
    ///     .build()?;
    /// assert_eq!(critic.invoke("How good is it?").await?.score, 10);
    /// # Ok(())
    /// # }
    /// ```
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
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text("Paris")]);
    /// let agent =
    ///     Agent::builder("a").instructions("Answer in one word.").model(model.clone()).build()?;
    /// agent.invoke("What is the capital of France?").await?;
    /// assert_eq!(model.requests()[0].system, "Answer in one word.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.settings.instructions = instructions.into();
        self
    }

    /// The model to ask; an agent without one is not built.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// use protolink::testing::{Reply, ScriptedModel};
    ///
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).build()?;
    /// // With the feature `genai`: `.model(GenaiModel::new("gpt-5-mini"))`.
    /// # let _ = agent;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn model(mut self, model: impl Model) -> Self {
        self.settings.model = Some(Arc::new(model));
        self
    }
}

/// Tools.
impl<S: Send + Sync + 'static, A> AgentBuilder<S, A> {
    /// Adds a tool: `.tool::<search>()`.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// /// Search the catalogue.
    /// #[tool]
    /// fn search(query: String) -> String {
    ///     query
    /// }
    /// # let _ =
    /// Agent::builder("a").tool::<search>();
    /// ```
    #[must_use]
    pub fn tool<T: ToolFor<S>>(mut self) -> Self {
        self.settings.tools.push(BoundTool::new(T::definition(), Arc::clone(&self.state)));
        self
    }

    /// Adds tools: `.tools(tools![search, delete_document])`.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// /// Search the catalogue.
    /// #[tool]
    /// fn search(query: String) -> String {
    ///     query
    /// }
    ///
    /// /// Count the lamps.
    /// #[tool]
    /// fn count() -> u32 {
    ///     3
    /// }
    /// # let _ =
    /// Agent::builder("a").tools(tools![search, count]);
    /// ```
    #[must_use]
    pub fn tools(self, list: impl ToolList<Self>) -> Self {
        list(self)
    }
}

/// Tools that are made at run time, and who may call which.
impl<S, A> AgentBuilder<S, A> {
    /// Adds a tool that was made at run time.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use protolink::DynTool;
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let clock = DynTool::new("clock", "Tell the time.", json!({ "type": "object" }), |_arguments, _context| async {
    ///     Ok::<_, ToolError>("noon")
    /// });
    /// let agent = Agent::builder("a").model(ScriptedModel::new([])).dyn_tool(clock).build()?;
    /// assert_eq!(agent.call_tool("clock", json!({})).await?, "noon");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn dyn_tool(mut self, tool: DynTool) -> Self {
        self.settings.tools.push(tool.bind());
        self
    }

    /// Adds tools that were made at run time: those of an MCP server, for example.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use protolink::DynTool;
    /// use serde_json::json;
    ///
    /// let tools = ["north", "south"].map(|shop| {
    ///     DynTool::new(shop, "Count the lamps of a shop.", json!({ "type": "object" }), |_, _| async {
    ///         Ok::<_, ToolError>(3)
    ///     })
    /// });
    /// let agent = Agent::builder("a").model(ScriptedModel::new([])).dyn_tools(tools).build()?;
    /// assert_eq!(agent.config().tools.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn dyn_tools(self, tools: impl IntoIterator<Item = DynTool>) -> Self {
        tools.into_iter().fold(self, Self::dyn_tool)
    }

    /// Adds the built-in tool `ask_user`, by which the model asks the user a question. The run pauses until
    /// [`answer`](crate::ResumeBuilder::answer) gives the reply; it needs a store.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Reply::call("ask_user", serde_json::json!({ "question": "Which size?" })),
    ///     Reply::text("A small one, then."),
    /// ]);
    /// let agent = Agent::builder("a").model(model).ask_user().durable(MemoryStore::new()).build()?;
    /// let Outcome::Interrupted(waits_for) = agent.run("Order a lamp.").run_id("r-1").await? else { return Ok(()) };
    /// assert_eq!(waits_for.question(), Some("Which size?"));
    /// agent.resume("r-1").answer(&waits_for, "small").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn ask_user(mut self) -> Self {
        self.settings.tools.push(ask_user_tool());
        self
    }

    /// The authority over tool calls; everything is allowed where none is set (contract P1).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// /// Delete a document.
    /// #[tool(capability = "documents.delete")]
    /// fn delete(id: String) -> String {
    ///     id
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a")
    ///     .model(ScriptedModel::new([]))
    ///     .tools(tools![delete])
    ///     .policy(CapabilityPolicy::new().deny("documents.delete"))
    ///     .build()?;
    /// let refused = agent.call_tool("delete", serde_json::json!({ "id": "7" })).await;
    /// assert!(matches!(refused, Err(Error::CallRefused { .. })));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn policy(mut self, policy: impl Policy) -> Self {
        self.settings.policy = Arc::new(policy);
        self
    }

    /// Asks a person while the run waits, where the policy requires approval.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use protolink::async_trait;
    /// use protolink::rules::{Approval, ApprovalRequest, Approver};
    ///
    /// /// Delete a document.
    /// #[tool(capability = "documents.delete")]
    /// fn delete(id: String) -> String {
    ///     id
    /// }
    ///
    /// struct OnlyDrafts;
    ///
    /// #[async_trait]
    /// impl Approver for OnlyDrafts {
    ///     async fn approve(&self, request: &ApprovalRequest) -> Approval {
    ///         match request.arguments["id"].as_str() {
    ///             Some(id) if id.starts_with("draft-") => Approval::Approve,
    ///             _ => Approval::Reject { reason: "only drafts are deleted".to_owned() },
    ///         }
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let agent = Agent::builder("a")
    ///     .model(ScriptedModel::new([]))
    ///     .tools(tools![delete])
    ///     .policy(CapabilityPolicy::new().require_approval("documents.delete"))
    ///     .approver(OnlyDrafts)
    ///     .build()?;
    /// assert_eq!(agent.call_tool("delete", serde_json::json!({ "id": "draft-7" })).await?, "draft-7");
    /// assert!(agent.call_tool("delete", serde_json::json!({ "id": "contract" })).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.settings.approver = Some(Arc::new(approver));
        self
    }
}

/// Where runs are kept, and who watches them.
impl<S, A> AgentBuilder<S, A> {
    /// Keeps runs in this store, so that they survive their process.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = MemoryStore::new(); // with the feature `sqlite`: `SqliteStore::open("runs.sqlite")?`
    /// let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).durable(store).build()?;
    /// agent.run("Go.").run_id("r-1").await?;
    ///
    /// // What was run is on record, and a resume of what has ended gives the answer that it gave.
    /// assert_eq!(agent.resume("r-1").await?.answer().map(Answer::text), Some("done"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn durable(mut self, store: impl RunStore) -> Self {
        self.settings.store = Some(Arc::new(store));
        self
    }

    /// Adds one that watches; several are told in the order in which they were added.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let steps = Arc::new(AtomicU32::new(0));
    /// let counter = Arc::clone(&steps);
    /// let agent = Agent::builder("a")
    ///     .model(ScriptedModel::new([Reply::text("done")]))
    ///     .observer(move |event: &RunEvent| {
    ///         if let RunEvent::StepStarted { step } = event {
    ///             counter.store(*step, Ordering::Relaxed);
    ///         }
    ///     })
    ///     .build()?;
    /// agent.invoke("Go.").await?;
    /// assert_eq!(steps.load(Ordering::Relaxed), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.settings.observers.push(Arc::new(observer));
        self
    }
}

/// Hooks, in the order in which they run.
impl<S: Send + Sync + 'static, A> AgentBuilder<S, A> {
    /// Adds annotated hooks in their order: `.hooks(hooks![select_context, keep_hits])`.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// #[before_model]
    /// fn be_brief(request: &mut ModelRequest<'_>) {
    ///     request.history().append_system("Be brief.");
    /// }
    ///
    /// #[before_complete]
    /// fn lower_case(response: &mut FinalResponse<'_>) {
    ///     let quiet = response.text().unwrap_or_default().to_lowercase();
    ///     response.set_text(quiet);
    /// }
    /// # let _ =
    /// Agent::builder("a").hooks(hooks![be_brief, lower_case]);
    /// ```
    #[must_use]
    pub fn hooks(self, list: impl HookList<Self>) -> Self {
        list(self)
    }

    /// Adds an annotated hook: `.hook(select_context {})`.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// #[before_model]
    /// fn be_brief(request: &mut ModelRequest<'_>) {
    ///     request.history().append_system("Be brief.");
    /// }
    /// # let _ =
    /// Agent::builder("a").hook(be_brief {});
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

    /// Adds a reusable group of hooks in its own order.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// use protolink::AgentHooks;
    ///
    /// let house_rules = AgentHooks::new()
    ///     .before_model("be_brief", |request: &mut ModelRequest<'_>| {
    ///         request.history().append_system("Be brief.")
    ///     });
    /// # let _ =
    /// Agent::builder("a").group(house_rules);
    /// ```
    #[must_use]
    pub fn group(mut self, group: AgentHooks<S, A>) -> Self {
        for entry in group.entries {
            self.push(entry);
        }
        self
    }

    /// Adds a closure or a plain function as a `before_model` hook of this name. It has no fingerprint of its source.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text("done")]);
    /// let agent = Agent::builder("a")
    ///     .model(model.clone())
    ///     .before_model("be_brief", |request: &mut ModelRequest<'_>| {
    ///         request.history().append_system("Be brief.")
    ///     })
    ///     .build()?;
    /// agent.invoke("Go.").await?;
    /// assert_eq!(model.requests()[0].system, "Be brief.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn before_model<K>(self, name: impl Into<String>, hook: impl StageFn<BeforeModel, K>) -> Self {
        self.group(AgentHooks::new().before_model(name, hook))
    }

    /// Adds a closure or a plain function as an `after_tool` hook of this name. It has no fingerprint of its source.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # let _ =
    /// Agent::builder("a").after_tool("no_debug", |observation: &mut ToolObservation<'_>| {
    ///     if let Some(fields) = observation.result_mut().as_object_mut() {
    ///         fields.remove("debug");
    ///     }
    /// });
    /// ```
    #[must_use]
    pub fn after_tool<K>(self, name: impl Into<String>, hook: impl StageFn<AfterTool, K>) -> Self {
        self.group(AgentHooks::new().after_tool(name, hook))
    }

    /// Adds a closure or a plain function as a `before_complete` hook of this name. It has no fingerprint of its source.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # let _ =
    /// Agent::builder("a").before_complete("not_empty", |response: &mut FinalResponse<'_>| {
    ///     match response.text() {
    ///         Some("") => Err("the answer is empty"),
    ///         _ => Ok(()),
    ///     }
    /// });
    /// ```
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

impl<S: Send + Sync + 'static, A, H: HookFor<S, A>> AddHook<H> for AgentBuilder<S, A> {
    fn add_hook(mut self) -> Self {
        self.hook_of::<H>();
        self
    }
}

impl<S: Send + Sync + 'static> AgentBuilder<S> {
    /// Makes the agent.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::ScriptedModel;
    /// use protolink::BuildError;
    ///
    /// assert!(matches!(Agent::builder("a").build(), Err(BuildError::NoModel { .. })));
    /// assert!(Agent::builder("a").model(ScriptedModel::new([])).build().is_ok());
    /// ```
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
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::ScriptedModel;
    /// let yes_or_no = Agent::builder("a").model(ScriptedModel::new([])).answer::<bool>().build()?;
    /// # let _ = yes_or_no;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
