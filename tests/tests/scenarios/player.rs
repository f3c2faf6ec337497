//! Playing the commands of a scenario on an agent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use protolink::durable::SqliteStore;
use protolink::rules::BudgetLimit;
use protolink::{
    Agent, AgentConfig, CancellationToken, Conversation, Error, Message, Outcome, RunBuilder, RunEvent, RunId,
};
use serde_json::{Map, Value, json};

use crate::build::{self, Ground, budget};
use crate::command::{Command, Invocation};
use crate::not_here::{NotHere, broken};
use crate::policy::PERMISSIONS;
use crate::process::{self, Job};
use crate::seen::{Fingerprint, Seen, SeenError};
use crate::setup::{HookSetup, Setup, Written};
use crate::world::{Entry, World};

/// The session of a command that names none.
const SESSION: &str = "default";

/// One agent after another on one store.
pub(crate) struct Player {
    pub(crate) world: Arc<World>,
    written: Written,
    pub(crate) setup: Setup,
    pub(crate) store: Option<Arc<SqliteStore>>,
    pub(crate) agent: Agent,
    saved: Option<AgentConfig>,
    conversations: BTreeMap<String, Conversation>,
    /// The conversation of the last run, where nothing else keeps it.
    last_messages: Vec<Value>,
    /// Whether a process was killed that may still seem to own a run.
    pub(crate) after_a_kill: bool,
}

impl Player {
    pub(crate) fn new(world: Arc<World>, written: Written, after_a_kill: bool) -> Result<Self, NotHere> {
        let setup = Setup::read(&written)?;
        let store = setup.durable.then(|| SqliteStore::open(world.store())).transpose().map_err(broken)?.map(Arc::new);
        let ground = Ground { world: &world, store: store.as_ref(), saved: None };
        let agent = build::agent(&ground, &setup, &setup.hooks)?.map_err(NotHere::unsupported)?;
        let (conversations, last_messages) = (BTreeMap::new(), Vec::new());
        Ok(Self { world, written, setup, store, agent, saved: None, conversations, last_messages, after_a_kill })
    }

    /// Plays one command.
    pub(crate) async fn play(&mut self, command: &Command) -> Result<Seen, NotHere> {
        match command {
            Command::Invoke(invocation) => self.invoke(invocation, How::Awaited).await,
            Command::Stream(invocation) => self.invoke(invocation, How::Streamed).await,
            Command::RunHandle(invocation) => self.invoke(invocation, How::Started).await,
            Command::DirectInfer(invocation) => self.without_hooks(invocation).await,
            Command::Concurrent(invocations) => self.concurrent(invocations).await,
            Command::Resume { run_id, approved, answer, budget } => {
                self.resume(run_id.as_deref(), *approved, answer.as_deref(), budget.as_ref()).await
            }
            Command::Reconcile { run_id, result } => self.reconcile(run_id.as_deref(), result).await,
            Command::Rebuild { changes } => self.rebuild(changes),
            Command::Process { changes, commands } => self.process(changes, commands),
            Command::CallTool { tool, arguments } => Ok(self.call_tool(tool, arguments).await),
            Command::ToDict => {
                let saved = self.agent.config();
                let shown = serde_json::to_value(&saved).map_err(broken)?;
                self.saved = Some(saved);
                Ok(Seen { shown: Some(shown), ..Seen::default() })
            }
            Command::FromDict { hooks, same_hooks } => self.restore(hooks, *same_hooks),
            Command::Fingerprint => {
                let contract = self.written.contract()?.to_string();
                let digest = self.agent.fingerprint().to_string();
                Ok(Seen { fingerprint: Some(Fingerprint { digest, contract }), ..Seen::default() })
            }
            Command::Checkpoint { run_id } => self.checkpoint(run_id.as_deref()).await,
            Command::LlmHistory => {
                Ok(Seen { shown: Some(Value::Array(self.last_messages.clone())), ..Seen::default() })
            }
            Command::SessionHistory { session } => {
                let conversation = self.conversation(session.as_deref().unwrap_or(SESSION)).await?;
                let shown = Some(Value::Array(told(conversation.messages().iter().map(|message| &**message))));
                Ok(Seen { shown, ..Seen::default() })
            }
        }
    }

    fn ground(&self) -> Ground<'_> {
        Ground { world: &self.world, store: self.store.as_ref(), saved: None }
    }

    async fn invoke(&mut self, invocation: &Invocation, how: How) -> Result<Seen, NotHere> {
        if let Some((tool, arguments)) = &invocation.tool {
            return Ok(self.call_tool(tool, arguments).await);
        }
        let session = invocation.session.as_deref().unwrap_or(SESSION);
        let in_session = self.setup.keeps_conversations;
        let mut conversation = match self.conversations.remove(session) {
            Some(kept) => kept,
            None if in_session => self.new_conversation(session).await?,
            None => self.agent.conversation(),
        };
        let mut seen = Seen::default();
        let mut outputs = Vec::new();
        for (part, prompt) in invocation.prompts.iter().enumerate() {
            seen = self.one_run(&mut conversation, invocation, part, prompt, how).await?;
            outputs.append(&mut seen.outputs);
            if seen.state != Some("completed") {
                break;
            }
        }
        seen.outputs = outputs;
        self.last_messages = told(conversation.messages().iter().map(|message| &**message));
        if in_session {
            self.conversations.insert(session.to_owned(), conversation);
        }
        Ok(seen)
    }

    async fn one_run(
        &self,
        conversation: &mut Conversation,
        invocation: &Invocation,
        part: usize,
        prompt: &str,
        how: How,
    ) -> Result<Seen, NotHere> {
        let run_id = match &invocation.run_id {
            Some(run_id) if part == 0 => run_id.clone(),
            _ => RunId::new().to_string(),
        };
        self.world.note(&Entry::Run { run_id: run_id.clone() })?;
        let before = self.world.entries()?.len();
        let token = CancellationToken::new();
        let _timer = invocation.timeout.map(|seconds| cancel_after(&token, seconds));
        let slice = self.setup.yield_after_steps;
        if let Some(steps) = slice {
            self.world.note(&Entry::Slice { steps })?;
        }
        let budget = budget(&self.setup, invocation.budget.as_ref(), slice)?;
        // A run in a task of its own belongs to no conversation: it may outlive the handle that would lend it.
        let result = if matches!(how, How::Started) {
            let run = configured(self.agent.run(prompt), &run_id, invocation).budget(budget).cancel(token);
            run.start().result().await
        } else {
            let run = configured(conversation.run(prompt), &run_id, invocation).budget(budget).cancel(token);
            if matches!(how, How::Streamed) { streamed(run).await? } else { run.await }
        };
        let mut seen = self.ended(result, invocation.budget.as_ref())?;
        seen.exposed = self.world.exposed_since(before)?;
        Ok(seen)
    }

    /// What a run's end is in the words of the scenarios.
    pub(crate) fn ended(
        &self,
        result: Result<Outcome, Error>,
        limits: Option<&Map<String, Value>>,
    ) -> Result<Seen, NotHere> {
        if let Ok(Outcome::Interrupted(interruption)) = &result {
            self.world.note(&Entry::Waits { interruption: Box::new(interruption.clone()) })?;
        }
        if self.setup.yield_after_steps.is_some()
            && let Err(Error::Budget { limit: BudgetLimit::Steps(steps), .. }) = &result
            && budget(&self.setup, limits, None)? != budget(&self.setup, limits, Some(*steps))?
        {
            return Ok(Seen::yielded());
        }
        Ok(Seen::of(result))
    }

    /// The loop without the agent's hooks: they belong to the agent (contract S8).
    async fn without_hooks(&mut self, invocation: &Invocation) -> Result<Seen, NotHere> {
        let bare = build::agent(&self.ground(), &self.setup, &[])?.map_err(NotHere::unsupported)?;
        let hooked = std::mem::replace(&mut self.agent, bare);
        let seen = self.invoke(invocation, How::Awaited).await;
        self.agent = hooked;
        seen
    }

    async fn concurrent(&self, invocations: &[Invocation]) -> Result<Seen, NotHere> {
        let runs = invocations.iter().map(|invocation| async move {
            let prompt = invocation.prompts.first().map_or("go", String::as_str);
            let mut conversation = self.agent.conversation();
            self.one_run(&mut conversation, invocation, 0, prompt, How::Awaited).await
        });
        let all = futures_util::future::join_all(runs).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut seen = Seen::default();
        for one in all {
            seen.outputs.extend(one.outputs);
            seen.error = seen.error.or(one.error);
            if seen.state.is_none() || one.state != Some("completed") {
                seen.state = one.state;
            }
        }
        Ok(seen)
    }

    async fn new_conversation(&self, session: &str) -> Result<Conversation, NotHere> {
        if self.store.is_some() {
            return self.agent.conversation_id(session).await.map_err(NotHere::unsupported);
        }
        Ok(self.agent.conversation())
    }

    async fn conversation(&mut self, session: &str) -> Result<&Conversation, NotHere> {
        if !self.conversations.contains_key(session) {
            let new = self.new_conversation(session).await?;
            self.conversations.insert(session.to_owned(), new);
        }
        self.conversations.get(session).ok_or_else(|| broken("no conversation"))
    }

    fn rebuild(&mut self, changes: &Map<String, Value>) -> Result<Seen, NotHere> {
        let written = self.written.with(changes);
        let setup = Setup::read(&written)?;
        self.agent = build::agent(&self.ground(), &setup, &setup.hooks)?.map_err(NotHere::unsupported)?;
        (self.written, self.setup) = (written, setup);
        self.conversations.clear();
        Ok(Seen::default())
    }

    fn restore(&mut self, hooks: &[Value], same_hooks: bool) -> Result<Seen, NotHere> {
        let given: Vec<HookSetup> = if same_hooks {
            self.setup.hooks.clone()
        } else {
            let one = |given: &Value| match given.as_str() {
                None => HookSetup::read(given),
                Some(id) => {
                    let known = self.setup.hooks.iter().find(|hook| hook.id == id).cloned();
                    known.ok_or_else(|| NotHere::unsupported(format!("the hook `{id}` of from_dict")))
                }
            };
            hooks.iter().map(one).collect::<Result<_, _>>()?
        };
        let saved = self.saved.clone().unwrap_or_else(|| self.agent.config());
        let ground = Ground { saved: Some(&saved), ..self.ground() };
        match build::agent(&ground, &self.setup, &given)? {
            Ok(agent) => {
                self.agent = agent;
                self.conversations.clear();
                Ok(Seen::default())
            }
            Err(error) => {
                let what =
                    SeenError::new("BuildError", &["ValueError", "TypeError", "RuntimeError"], error.to_string());
                Ok(Seen { error: Some(what), ..Seen::default() })
            }
        }
    }

    fn process(&mut self, changes: &Map<String, Value>, commands: &[Value]) -> Result<Seen, NotHere> {
        let job = Job {
            folder: self.world.folder().to_owned(),
            setup: self.written.with(changes).0,
            commands: commands.to_vec(),
            after_a_kill: self.after_a_kill,
        };
        self.after_a_kill = process::run(&self.world, &job)?;
        Ok(Seen::default())
    }

    async fn call_tool(&self, tool: &str, arguments: &Value) -> Seen {
        let arguments = if arguments.is_null() { json!({}) } else { arguments.clone() };
        match self.agent.call_tool(tool, &arguments).await {
            Ok(result) => Seen { state: Some("completed"), outputs: vec![result], ..Seen::default() },
            Err(error) => Seen::of(Err(error)),
        }
    }
}

/// How a run is driven.
#[derive(Debug, Clone, Copy)]
enum How {
    Awaited,
    Streamed,
    Started,
}

fn configured<'c>(run: RunBuilder<'c>, run_id: &str, invocation: &Invocation) -> RunBuilder<'c> {
    let mut run = run.run_id(run_id);
    for (key, value) in &invocation.metadata {
        run = run.context(key, value);
    }
    match &invocation.permissions {
        None => run,
        Some(permissions) => run.context(PERMISSIONS, permissions),
    }
}

fn cancel_after(token: &CancellationToken, seconds: f64) -> impl Drop + use<> {
    let token = token.clone();
    let after = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let timer = tokio::spawn(async move {
        tokio::time::sleep(after).await;
        token.cancel();
    });
    AbortOnDrop(timer)
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Reads a stream to its end, and checks that it has exactly one (contract F1, F4).
async fn streamed(run: RunBuilder<'_>) -> Result<Result<Outcome, Error>, NotHere> {
    let mut stream = run.stream();
    let mut end = None;
    while let Some(item) = stream.next().await {
        if end.is_some() {
            return Err(NotHere::unsupported("something came after the end of a stream"));
        }
        end = match item {
            Ok(RunEvent::Completed(answer)) => Some(Ok(Outcome::Completed(answer))),
            Ok(RunEvent::Interrupted(interruption)) => Some(Ok(Outcome::Interrupted(*interruption))),
            Err(error) => Some(Err(error)),
            Ok(_) => None,
        };
    }
    end.ok_or_else(|| NotHere::unsupported("a stream without an end"))
}

/// A conversation as a list of who said what.
fn told<'m>(messages: impl Iterator<Item = &'m Message>) -> Vec<Value> {
    let mut told = Vec::new();
    for message in messages {
        let role = if message.is_user() { "user" } else { "assistant" };
        told.push(json!({ "role": role, "content": message.text() }));
        for exchange in message.calls() {
            let content = exchange.outcome.to_model_text();
            told.push(json!({ "role": "tool", "name": exchange.call.name, "content": content }));
        }
    }
    told
}
