//! An agent that pays twice and answers, in a process that can be killed anywhere.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use protolink::model::{ChunkSink, Model, ModelError, ModelId, ModelReply, PreparedRequest};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentBuilder, BoxFuture, DynTool, Outcome as Ended, async_trait};
use protolink_tests::Log;
use protolink_tests::durable::{Effects, Outcome};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// A point at which the process can be killed, in the application's own code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Point {
    BeforeEdits,
    AfterEdits,
    BeforeModel,
    AfterModel,
    BeforeEffect,
    AfterEffect,
    BeforeShaping,
    AfterShaping,
    BeforeCheck,
    AfterCheck,
}

/// Kills the process when it comes to a point for the n-th time.
#[derive(Clone, Default)]
pub(crate) struct Killer {
    at: Option<(Point, usize)>,
    times: Arc<Mutex<BTreeMap<Point, usize>>>,
    killed: Arc<Notify>,
}

impl Killer {
    pub(crate) fn at(point: Point, time: usize) -> Self {
        Self { at: Some((point, time)), ..Self::default() }
    }

    async fn pass(&self, point: Point) {
        let time = {
            let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
            let time = times.entry(point).or_default();
            *time += 1;
            *time
        };
        if self.at == Some((point, time)) {
            self.killed.notify_one();
            std::future::pending::<()>().await;
        }
    }

    /// Runs until the work ends, or until the process is killed: then there is no output.
    pub(crate) async fn until_killed<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            output = work => Some(output),
            () = self.killed.notified() => None,
        }
    }
}

/// A model whose process can be killed before and after it replies.
pub(crate) struct Mortal {
    model: ScriptedModel,
    killer: Killer,
}

#[async_trait]
impl Model for Mortal {
    fn id(&self) -> ModelId {
        self.model.id()
    }

    async fn respond(
        &self,
        request: &PreparedRequest<'_>,
        chunks: &mut ChunkSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        self.killer.pass(Point::BeforeModel).await;
        let reply = self.model.respond(request, chunks).await;
        self.killer.pass(Point::AfterModel).await;
        reply
    }
}

/// What happened, outside of any store.
#[derive(Clone, Default)]
pub(crate) struct Record {
    pub(crate) effects: Effects,
    /// Each hook, with its step.
    pub(crate) hooks: Log,
}

/// Two effects, then an answer: what is next follows from what the request shows.
pub(crate) fn script() -> ScriptedModel {
    ScriptedModel::from_fn(|request| match request.messages.iter().filter(|message| message.is_assistant()).count() {
        0 => Reply::call("pay", json!({ "cents": 1 })),
        1 => Reply::call("pay", json!({ "cents": 2 })),
        _ => Reply::text("paid"),
    })
}

/// An agent with a hook at each stage, which a killer can end anywhere.
pub(crate) fn payer(record: &Record, model: &ScriptedModel, killer: &Killer) -> AgentBuilder {
    let (effects, tool_killer) = (record.effects.clone(), killer.clone());
    let pay = move |_: Value, context: ToolContext| {
        let (effects, killer) = (effects.clone(), tool_killer.clone());
        async move {
            killer.pass(Point::BeforeEffect).await;
            effects.happen("pay", context.action_id());
            killer.pass(Point::AfterEffect).await;
            Ok::<_, ToolError>(json!({ "paid": true, "receipt": "secret" }))
        }
    };
    Agent::builder("payer")
        .model(Mortal { model: model.clone(), killer: killer.clone() })
        .dyn_tool(DynTool::new("pay", "Pays.", json!({ "type": "object" }), pay).capability("money"))
        .budget(Budget::new().max_steps(3))
        .before_model("note", notes(record, killer))
        .after_tool("redact", redacts(record, killer))
        .before_complete("check", checks(record, killer))
}

pub(crate) type HookResult = Result<(), BoxError>;

pub(crate) fn notes(
    record: &Record,
    killer: &Killer,
) -> impl for<'a, 'r> Fn(&'a mut ModelRequest<'r>) -> BoxFuture<'a, HookResult> + Send + Sync + 'static {
    let (hooks, killer) = (record.hooks.clone(), killer.clone());
    move |request| {
        let (hooks, killer) = (hooks.clone(), killer.clone());
        Box::pin(async move {
            let step = request.step();
            hooks.add(format!("note {step}"));
            killer.pass(Point::BeforeEdits).await;
            request.history().push(Message::user(format!("note {step}")));
            killer.pass(Point::AfterEdits).await;
            Ok(())
        })
    }
}

pub(crate) fn redacts(
    record: &Record,
    killer: &Killer,
) -> impl for<'a, 'r> Fn(&'a mut ToolObservation<'r>) -> BoxFuture<'a, HookResult> + Send + Sync + 'static {
    let (hooks, killer) = (record.hooks.clone(), killer.clone());
    move |observation| {
        let (hooks, killer) = (hooks.clone(), killer.clone());
        Box::pin(async move {
            hooks.add(format!("redact {} of {}", observation.step(), observation.result()["receipt"]));
            killer.pass(Point::BeforeShaping).await;
            observation.result_mut()["receipt"] = json!("hidden");
            killer.pass(Point::AfterShaping).await;
            Ok(())
        })
    }
}

pub(crate) fn checks(
    record: &Record,
    killer: &Killer,
) -> impl for<'a, 'r> Fn(&'a mut FinalResponse<'r>) -> BoxFuture<'a, HookResult> + Send + Sync + 'static {
    let (hooks, killer) = (record.hooks.clone(), killer.clone());
    move |response| {
        let (hooks, killer) = (hooks.clone(), killer.clone());
        Box::pin(async move {
            hooks.add(format!("check {}", response.step()));
            killer.pass(Point::BeforeCheck).await;
            let checked = format!("checked: {}", response.text().unwrap_or_default());
            response.set_text(checked);
            killer.pass(Point::AfterCheck).await;
            Ok(())
        })
    }
}

/// Resumes until there is an answer, and says truthfully of each uncertain action whether it happened.
/// Gives the answer, and how many actions did not happen.
pub(crate) async fn finish(agent: &Agent, effects: &Effects) -> Outcome<(String, usize)> {
    let mut not_done = 0;
    loop {
        match agent.resume("r").await {
            Ok(Ended::Completed(answer)) => return Ok((answer.text().to_owned(), not_done)),
            Ok(Ended::Interrupted(_)) => return Err("it waits for a person".into()),
            Err(Error::Uncertain { action_id, .. }) => {
                let happened = effects.all().iter().any(|(_, action)| *action == action_id);
                not_done += usize::from(!happened);
                agent.reconcile("r", action_id, json!({ "paid": happened, "receipt": "secret" })).await?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// What a conversation says, with what the model was told of its calls.
pub(crate) fn said(conversation: &protolink::Conversation) -> Vec<String> {
    let texts = conversation.messages().iter().flat_map(|message| {
        let told = message.calls().iter().map(|exchange| exchange.outcome.to_model_text());
        message.text().map(str::to_owned).into_iter().chain(told)
    });
    texts.collect()
}
