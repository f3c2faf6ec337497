//! The process that is killed: a scripted agent on a real file.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protolink::durable::{Clock, Page, RunFilter, RunStore, SqliteStore, SystemClock, Timestamp};
use protolink::prelude::*;
use protolink::testing::ScriptedModel;
use protolink::{CancellationToken, DynTool, OnError, ToolContext};
use serde_json::{Value, json};

use super::point::Points;
use super::program::{Programs, Step, prompt, reply};
use super::store::{ChildStore, Lie};

/// The conversation that all runs make together.
pub(crate) const CONVERSATION: &str = "c";

/// What a child says when it is about to work.
pub(crate) const READY: u8 = b'!';

/// The exit code of a child that leaves while a person is asked.
pub(crate) const LEFT_WAITING: i32 = 3;

const ORDERS: &str = "PROTOLINK_CRASH_CHILD";

/// What a child is told.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    pub(crate) folder: PathBuf,
    pub(crate) programs: Programs,
    /// How many runs the conversation is to have.
    pub(crate) runs: usize,
    /// The how many-th process on this folder it is.
    pub(crate) generation: u64,
    pub(crate) die_at: Option<u64>,
    pub(crate) lie: Option<Lie>,
}

impl Orders {
    /// The orders of this process, where it is a child.
    pub(crate) fn given() -> Option<Self> {
        let text = std::env::var(ORDERS).ok()?;
        let mut lines = text.lines();
        let mut line = || lines.next().expect("orders have six lines");
        Some(Self {
            folder: line().into(),
            programs: Programs::from_text(line()),
            runs: line().parse().expect("a number"),
            generation: line().parse().expect("a number"),
            die_at: line().parse().ok(),
            lie: Lie::from_text(line()),
        })
    }

    pub(crate) fn variable(&self) -> (&'static str, String) {
        let die_at = self.die_at.map_or_else(|| "never".to_owned(), |point| point.to_string());
        let lie = self.lie.map_or_else(|| "none".to_owned(), |lie| format!("{lie:?}"));
        let folder = self.folder.to_str().expect("the folder's name is text");
        let programs = self.programs.to_text();
        (ORDERS, format!("{folder}\n{programs}\n{}\n{}\n{die_at}\n{lie}", self.runs, self.generation))
    }

    /// A process of a later hour than all before it: their leases have run out.
    pub(crate) fn open(&self) -> SqliteStore {
        let store = SqliteStore::open(store_file(&self.folder)).expect("the store can be opened");
        store.with_clock(Later(self.generation))
    }
}

pub(crate) fn store_file(folder: &Path) -> PathBuf {
    folder.join("runs.sqlite")
}

pub(crate) fn effects_file(folder: &Path) -> PathBuf {
    folder.join("effects")
}

pub(crate) fn acknowledged_file(folder: &Path) -> PathBuf {
    folder.join("acknowledged")
}

pub(crate) fn points_file(folder: &Path) -> PathBuf {
    folder.join("points")
}

#[derive(Debug)]
struct Later(u64);

impl Clock for Later {
    fn now(&self) -> Timestamp {
        SystemClock.now().after(Duration::from_hours(self.0))
    }
}

/// What tools and hooks of a child share.
#[derive(Clone)]
struct Hands {
    points: Arc<Points>,
    effects: PathBuf,
    generation: u64,
    token: Arc<Mutex<CancellationToken>>,
}

impl Hands {
    /// Has an effect, in a file that is not the store's: one line, written at once.
    fn effect(&self, tool: &str, context: &ToolContext) {
        self.points.pass();
        let line = format!("{} {} {tool}\n", self.generation, context.action_id());
        let file = OpenOptions::new().create(true).append(true).open(&self.effects);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the file can be written");
        self.points.pass();
    }

    fn tool(&self, name: &'static str, end: impl Fn(&Self, &ToolContext) -> End + Send + Sync + 'static) -> DynTool {
        let hands = self.clone();
        DynTool::new(name, "Has an effect.", json!({ "type": "object" }), move |_, context| {
            let end = end(&hands, &context);
            async move {
                match end {
                    End::Done => Ok(json!({ "of": context.action_id().as_str() })),
                    End::Failed => Err(ToolError::failed("it failed")),
                    End::Refused => Err(ToolError::rejected("not so")),
                    End::Never => std::future::pending::<Result<Value, ToolError>>().await,
                }
            }
        })
    }
}

enum End {
    Done,
    Failed,
    Refused,
    Never,
}

/// The agent; the parent builds the same one to read the conversation.
pub(crate) fn agent(
    orders: &Orders,
    store: impl RunStore,
    points: Arc<Points>,
) -> (Agent, Arc<Mutex<CancellationToken>>) {
    let token = Arc::new(Mutex::new(CancellationToken::new()));
    let hands = Hands {
        points: Arc::clone(&points),
        effects: effects_file(&orders.folder),
        generation: orders.generation,
        token: Arc::clone(&token),
    };
    let done = |name: &'static str| {
        hands.tool(name, move |hands, context| {
            hands.effect(name, context);
            End::Done
        })
    };
    let programs = orders.programs.clone();
    let passes = move || {
        let points = Arc::clone(&points);
        move || points.pass()
    };
    let (in_model, in_before_model, in_after_tool, in_before_complete) = (passes(), passes(), passes(), passes());
    // Every other process takes the tool away.
    let filters = !orders.generation.is_multiple_of(2);
    let agent = Agent::builder("crash")
        .model(ScriptedModel::from_fn(move |request| {
            in_model();
            reply(&programs, request)
        }))
        .ask_user()
        .dyn_tool(done("plain"))
        .dyn_tool(done("again").idempotent())
        .dyn_tool(done("forbidden"))
        .dyn_tool(done("guarded").capability("guarded"))
        .dyn_tool(
            hands
                .tool("fails", |hands, context| {
                    hands.effect("fails", context);
                    End::Failed
                })
                .on_error(OnError::Report),
        )
        .dyn_tool(hands.tool("refuses", |_, _| End::Refused))
        .dyn_tool(hands.tool("stop", |hands, context| {
            hands.effect("stop", context);
            hands.token.lock().unwrap_or_else(PoisonError::into_inner).cancel();
            End::Never
        }))
        .policy(CapabilityPolicy::new().require_approval("guarded"))
        .before_model("note", move |request: &mut ModelRequest<'_>| {
            in_before_model();
            let note = format!("note {}", request.step());
            request.history().push(Message::user(note));
            if filters {
                request.tools().remove_named("forbidden");
            }
        })
        .after_tool("mark", move |observation: &mut ToolObservation<'_>| {
            in_after_tool();
            let seen = observation.result().clone();
            *observation.result_mut() = json!({ "seen": seen });
        })
        .before_complete("check", move |response: &mut FinalResponse<'_>| {
            in_before_complete();
            let checked = format!("{} (checked)", response.text().unwrap_or_default());
            response.set_text(checked);
        })
        .max_tool_corrections(1_000)
        .durable(store)
        .build()
        .expect("the agent can be built");
    (agent, token)
}

/// Works until all runs have ended.
pub(crate) fn work(orders: &Orders) -> ! {
    // Nobody waits for a child that hangs.
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_mins(1));
        eprintln!("it did not end within a minute");
        std::process::exit(1);
    });
    let points = Arc::new(Points::new(orders.die_at, points_file(&orders.folder)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    let code = runtime.block_on(async {
        let file = acknowledged_file(&orders.folder);
        let plain = orders.open();
        let store = ChildStore::new(plain.clone(), Arc::clone(&points), &file, orders.lie);
        let (agent, token) = agent(orders, store, Arc::clone(&points));
        run_all(orders, &plain, &agent, &token, &points).await
    });
    points.write();
    std::process::exit(code);
}

async fn run_all(
    orders: &Orders,
    store: &SqliteStore,
    agent: &Agent,
    token: &Mutex<CancellationToken>,
    points: &Points,
) -> i32 {
    let filter = RunFilter::new().conversation(CONVERSATION);
    let begun = store.list(&filter, Page::first(u32::MAX)).await.expect("the runs can be listed").runs.len();
    let mut conversation = agent.conversation_id(CONVERSATION).await.expect("the conversation can be read");
    let mut open = conversation.open_run().cloned();
    let mut said = std::io::stdout();
    said.write_all(&[READY]).and_then(|()| said.flush()).expect("the parent listens");
    for number in begun - usize::from(open.is_some()).. {
        let fresh = CancellationToken::new();
        *token.lock().unwrap_or_else(PoisonError::into_inner) = fresh.clone();
        let resumed = open.take();
        let stops = orders.programs.of(number).iter().flatten().any(|step| *step == Step::Stop);
        let mut outcome = match &resumed {
            Some(run_id) => conversation.resume(run_id).cancel(fresh.clone()).await,
            None if number == orders.runs => break,
            None => conversation.run(prompt(number)).run_id(format!("run-{number}")).cancel(fresh.clone()).await,
        };
        loop {
            let (run_id, action_id) = match outcome {
                Ok(Outcome::Completed(_)) | Err(Error::Cancelled { .. }) => break,
                Ok(Outcome::Interrupted(asked)) => {
                    // Half of the time somebody else hears of it.
                    if resumed.is_none() && number.is_multiple_of(2) {
                        return LEFT_WAITING;
                    }
                    let resume = conversation.resume(&asked.run_id).cancel(fresh.clone());
                    outcome = match asked.arguments().map(|arguments| arguments["yes"] == true) {
                        Some(true) => resume.approve(&asked).await,
                        Some(false) => resume.reject(&asked).await,
                        None => resume.answer(&asked, "blue").await,
                    };
                    continue;
                }
                Err(Error::Uncertain { run_id, action_id, .. }) => (run_id, action_id),
                Err(error) => panic!("run {number}: {error:?}"),
            };
            if stops {
                agent.cancel(&run_id).await.expect("what nobody holds can be cancelled");
                break;
            }
            let effects = std::fs::read_to_string(effects_file(&orders.folder)).unwrap_or_default();
            let happened = effects.lines().any(|line| line.split(' ').nth(1) == Some(action_id.as_str()));
            agent
                .reconcile(&run_id, &action_id, json!({ "happened": happened }))
                .await
                .expect("what is uncertain can be reconciled");
            outcome = conversation.resume(&run_id).cancel(fresh.clone()).await;
        }
        points.pass();
    }
    0
}
