//! Plays a plan with real agents, one process after another, and compares.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use protolink::durable::{Page, RunFilter, RunState, RunStore};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentBuilder, DynTool, Interruption, OnError, ToolOutcome};
use protolink_tests::durable::{Effects, Mishap, Outcome as Checked, Place, Watched};
use serde_json::{Value, json};

use super::plan::{Call, Edit, Failing, Plan};
use super::reference::{FEEDBACK, INSTRUCTIONS, Line, Request, assistant, expected, prompt, proposal, user};

/// A way in which an agent is made wrong, to see that it is found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twist {
    EditsTwice,
    RunsTwice,
    ForgetsTheMark,
    AnswersUnchecked,
    SkipsTheWord,
}

/// What all processes of a plan share, since it is not theirs: the outside world.
#[derive(Clone)]
struct World {
    plan: Arc<Plan>,
    effects: Effects,
    /// The run and step that the model is asked for.
    at: Arc<Mutex<(usize, u32)>>,
    requests: Arc<Mutex<BTreeMap<(usize, u32), Request>>>,
    /// A step whose request was not the same each time.
    unequal: Arc<Mutex<Option<String>>>,
    /// What failed once already.
    failed: Arc<Mutex<HashSet<String>>>,
    twist: Option<Twist>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    /// Whether this is the first time, for what fails once.
    fn first(&self, what: &str) -> bool {
        locked(&self.failed).insert(what.to_owned())
    }

    fn run_of(context: &protolink::RunContext) -> usize {
        context.get("run").and_then(Value::as_u64).and_then(|run| usize::try_from(run).ok()).unwrap_or_default()
    }

    fn reply(&self, system: &str, messages: &[Arc<Message>]) -> Reply {
        let (run, step) = *locked(&self.at);
        let request = (system.to_owned(), lines(messages));
        let earlier = locked(&self.requests).insert((run, step), request.clone());
        if let Some(earlier) = earlier.filter(|earlier| *earlier != request) {
            *locked(&self.unequal) = Some(format!("step {step} of run {run}: {earlier:?}, then {request:?}"));
        }
        let plan = &self.plan.runs[run];
        let index = usize::try_from(step).unwrap_or(usize::MAX) - 1;
        let Some(turn) = plan.turns.get(index) else {
            return Reply::text(proposal(run, index > plan.turns.len()));
        };
        if turn.fails && self.first(&format!("model {run}.{step}")) {
            return Reply::permanent("out of order");
        }
        Reply::calls(turn.calls.iter().enumerate().map(|(index, call)| {
            let arguments = match call {
                Call::Ask => json!({ "question": "Which colour?" }),
                Call::Approve(yes) => json!({ "yes": yes }),
                _ => json!({}),
            };
            Reply::call_with_id(format!("c{run}_{step}_{index}"), tool_of(*call), arguments)
        }))
    }

    fn tool(&self, name: &'static str) -> DynTool {
        let world = self.clone();
        DynTool::new(name, "Has an effect.", json!({ "type": "object" }), move |_, context| {
            world.effects.happen(name, context.action_id());
            if world.twist == Some(Twist::RunsTwice) && name == "plain" {
                world.effects.happen(name, context.action_id());
            }
            let done = json!({ "of": context.action_id().as_str() });
            async move { if name == "report" { Err(ToolError::failed("it failed")) } else { Ok(done) } }
        })
    }

    fn edit(&self, request: &mut ModelRequest<'_>) -> Result<(), String> {
        let (run, step) = (Self::run_of(request.context()), request.step());
        *locked(&self.at) = (run, step);
        let plan = &self.plan.runs[run];
        let index = usize::try_from(step).unwrap_or(usize::MAX) - 1;
        let edit = match plan.turns.get(index) {
            Some(turn) => turn.edit,
            None if index == plan.turns.len() => plan.last_edit,
            None => Edit::Nothing,
        };
        let name = format!("{run}.{step}");
        match edit {
            Edit::Nothing => {}
            Edit::Push => {
                request.history().push(Message::user(format!("note {name}")));
                if self.twist == Some(Twist::EditsTwice) {
                    request.history().push(Message::user(format!("note {name}")));
                }
            }
            Edit::Here => request.this_step().push(Message::user(format!("here {name}"))),
            Edit::Mark => {
                request.history().edit(0, |message| {
                    if message.original().is_user() {
                        let marked = format!("{}!", message.text().unwrap_or_default());
                        message.set_text(marked);
                    }
                });
            }
            Edit::Drop => {
                let mut history = request.history();
                if history.iter().skip(1).any(Message::is_user) {
                    history.remove(0);
                }
            }
            Edit::System => request.history().set_system(format!("system {name}")),
        }
        request.tools().remove_named("removed");
        let fails = plan.failing == Some(Failing::BeforeModel(step)) && self.first(&format!("before_model {run}"));
        if fails { Err("it fails once".to_owned()) } else { Ok(()) }
    }

    fn agent(&self, store: impl RunStore) -> AgentBuilder {
        let (model, edit, mark, check) = (self.clone(), self.clone(), self.clone(), self.clone());
        let policy = CapabilityPolicy::new();
        let policy = if self.twist == Some(Twist::SkipsTheWord) { policy } else { policy.require_approval("guarded") };
        Agent::builder("model")
            .instructions(INSTRUCTIONS)
            .model(ScriptedModel::from_fn(move |request| model.reply(&request.system, &request.messages)))
            .ask_user()
            .dyn_tool(self.tool("plain"))
            .dyn_tool(self.tool("again").idempotent())
            .dyn_tool(self.tool("removed"))
            .dyn_tool(self.tool("guarded").capability("guarded"))
            .dyn_tool(self.tool("report").on_error(OnError::Report))
            .dyn_tool(DynTool::new("refuse", "Refuses.", json!({ "type": "object" }), |_, _| async {
                Err::<Value, _>(ToolError::rejected("not so"))
            }))
            .policy(policy)
            .before_model("edit", move |request: &mut ModelRequest<'_>| edit.edit(request))
            .after_tool("mark", move |observation: &mut ToolObservation<'_>| {
                let run = Self::run_of(observation.context());
                let planned = mark.plan.runs[run].failing == Some(Failing::AfterTool(observation.step()));
                if planned && mark.first(&format!("after_tool {run}")) {
                    return Err("it fails once");
                }
                if mark.twist != Some(Twist::ForgetsTheMark) {
                    let seen = json!({ "seen": observation.result() });
                    *observation.result_mut() = seen;
                }
                Ok(())
            })
            .before_complete("check", move |response: &mut FinalResponse<'_>| {
                let run = Self::run_of(response.context());
                let plan = &check.plan.runs[run];
                if plan.failing == Some(Failing::BeforeComplete) && check.first(&format!("before_complete {run}")) {
                    return Err("it fails once");
                }
                if plan.revision && response.text() == Some(&proposal(run, false)) {
                    response.ask_revision(FEEDBACK);
                } else if check.twist != Some(Twist::AnswersUnchecked) {
                    let text = response.text().unwrap_or_default();
                    let checked = format!("{text}, checked against {}", response.receipts().len());
                    response.set_text(checked);
                }
                Ok(())
            })
            .max_revisions(1)
            .max_tool_corrections(1_000)
            .durable(store)
    }
}

fn tool_of(call: Call) -> &'static str {
    match call {
        Call::Plain => "plain",
        Call::Again => "again",
        Call::Removed => "removed",
        Call::Approve(_) => "guarded",
        Call::Ask => "ask_user",
        Call::Report => "report",
        Call::Refuse => "refuse",
    }
}

/// Messages as lines, for comparing.
fn lines(messages: &[Arc<Message>]) -> Vec<Line> {
    let line = |message: &Arc<Message>| match message.text() {
        Some(text) if message.is_user() => user(text),
        Some(text) => assistant(text),
        None => message.calls().iter().fold("assistant".to_owned(), |line, exchange| {
            let outcome = match &exchange.outcome {
                ToolOutcome::Observed(value) => value.to_string(),
                ToolOutcome::Rejected(_) => "rejected".to_owned(),
                ToolOutcome::Denied(_) => "denied".to_owned(),
                ToolOutcome::Failed(_) => "failed".to_owned(),
                other => format!("{other:?}"),
            };
            format!("{line} [{outcome}]")
        }),
    };
    messages.iter().map(line).collect()
}

/// More processes than any plan needs.
const PATIENCE: usize = 200;

/// Plays the plan to its end, and compares with the reference.
pub(crate) async fn drive(place: &Place, plan: &Plan, twist: Option<Twist>) -> Checked {
    let world = World {
        plan: Arc::new(plan.clone()),
        effects: Effects::new(),
        at: Arc::default(),
        requests: Arc::default(),
        unequal: Arc::default(),
        failed: Arc::default(),
        twist,
    };
    let mut reconciled = HashMap::new();
    let mut answers = vec![(String::new(), 0); plan.runs.len()];
    let mut deaths = plan.deaths.iter();
    let mut asked: Option<Interruption> = None;
    for _ in 0..PATIENCE {
        place.outlive_leases();
        let store = match deaths.next() {
            None => Watched::new(place.store()?),
            Some(death) => {
                let mishap = if death.after { Mishap::DiesAfter } else { Mishap::DiesBefore };
                Watched::with_mishap(place.store()?, death.at, mishap)
            }
        };
        let agent = world.agent(store.clone()).build()?;
        let life = one_process(&world, &agent, place, &mut reconciled, &mut answers, asked.take());
        match store.until_death(life).await {
            None => {}
            Some(told) => match told? {
                Some(interruption) => asked = Some(interruption),
                None => return compare(&world, &agent, &reconciled, &answers).await,
            },
        }
    }
    Err(format!("{PATIENCE} processes did not end the plan").into())
}

/// Works on the conversation until all its runs have ended; gives what a person is asked.
async fn one_process(
    world: &World,
    agent: &Agent,
    place: &Place,
    reconciled: &mut HashMap<String, bool>,
    answers: &mut [(String, u32)],
    mut asked: Option<Interruption>,
) -> Checked<Option<Interruption>> {
    let store = place.store()?;
    let mut conversation = agent.conversation_id("c").await?;
    loop {
        let listed = store.list(&RunFilter::new().conversation("c"), Page::first(1_000)).await?.runs;
        let begun = listed.len();
        let unfinished = listed.last().filter(|run| run.state != RunState::Completed).map(|run| run.run_id.clone());
        let outcome = match (unfinished, asked.take()) {
            (Some(run_id), None) => conversation.resume(run_id).await,
            (Some(run_id), Some(asked)) => {
                let resume = conversation.resume(run_id);
                match asked.arguments().map(|arguments| arguments["yes"] == true) {
                    Some(true) => resume.approve(&asked).await,
                    Some(false) => resume.reject(&asked).await,
                    None => resume.answer(&asked, "blue").await,
                }
            }
            (None, _) if begun == world.plan.runs.len() => return Ok(None),
            (None, _) => {
                let run = conversation.run(prompt(begun)).run_id(format!("run-{begun}")).context("run", begun);
                run.await
            }
        };
        match outcome {
            Ok(Outcome::Completed(answer)) => {
                let run: usize = answer.run_id().as_str().trim_start_matches("run-").parse()?;
                answers[run] = (answer.text().to_owned(), answer.steps());
            }
            Ok(Outcome::Interrupted(interruption)) => return Ok(Some(interruption)),
            Err(Error::Uncertain { run_id, action_id, .. }) => {
                let happened = world.effects.all().iter().any(|(_, action)| *action == action_id);
                // Said before it is committed, and said alike if the process dies in between.
                reconciled.insert(action_id.to_string(), happened);
                agent.reconcile(run_id, action_id, json!({ "happened": happened })).await?;
            }
            // Late: the process died right after the word was committed.
            Err(Error::StaleResponse { .. } | Error::Hook { .. } | Error::Model { .. }) => {}
            Err(error) => return Err(format!("{error:?}").into()),
        }
    }
}

async fn compare(
    world: &World,
    agent: &Agent,
    reconciled: &HashMap<String, bool>,
    answers: &[(String, u32)],
) -> Checked {
    let expected = expected(&world.plan, reconciled);
    let differ = |what: &str, found: &dyn std::fmt::Debug, wanted: &dyn std::fmt::Debug| {
        Err(format!("{what}: found\n{found:#?}\nwhere the reference has\n{wanted:#?}").into())
    };
    if let Some(unequal) = locked(&world.unequal).take() {
        return Err(format!("a step's request was not the same each time: {unequal}").into());
    }
    let conversation = lines(agent.conversation_id("c").await?.messages());
    if conversation != expected.conversation {
        return differ("the conversation", &conversation, &expected.conversation);
    }
    let requests = locked(&world.requests).clone();
    if requests != expected.requests {
        return differ("the requests", &requests, &expected.requests);
    }
    for (run, (answer, steps)) in answers.iter().enumerate() {
        // A process may have died before it heard of its answer.
        if *steps > 0 && (answer, steps) != (&expected.answers[run], &expected.steps[run]) {
            return differ("an answer", &(answer, steps), &(&expected.answers[run], &expected.steps[run]));
        }
    }
    let mut counted: HashMap<String, usize> = HashMap::new();
    for (_, action) in world.effects.all() {
        *counted.entry(action.to_string()).or_default() += 1;
    }
    for (action, times) in &expected.effects {
        let found = counted.remove(action).unwrap_or_default();
        let kept = times.map_or((1..=world.plan.deaths.len() + 1).contains(&found), |times| found == times);
        if !kept {
            return differ(&format!("the effects of {action}"), &found, times);
        }
    }
    if counted.is_empty() { Ok(()) } else { differ("effects that nobody asked for", &counted, &"none") }
}
