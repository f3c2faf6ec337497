//! The loop's figures: what a step, a hook and a large result cost, each beside its baseline in the same run.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{Exchange, ToolCall, ToolOutcome, Turn};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
struct Hits {
    hits: u32,
}

/// Looks something up.
#[protolink::tool]
fn look(at: Vec<String>) -> Hits {
    let hits = u32::try_from(at.len()).unwrap_or(u32::MAX);
    drop(at);
    Hits { hits }
}

#[protolink::before_model]
fn first(request: &mut ModelRequest<'_>) {
    black_box(request.step());
}

#[protolink::before_model]
fn second(request: &mut ModelRequest<'_>) {
    black_box(request.history().len());
}

#[protolink::after_tool]
fn third(observation: &mut ToolObservation<'_>) {
    black_box(observation.result());
}

fn arguments() -> Value {
    json!({ "at": ["the lamps in the catalogue"] })
}

/// How many steps are measured at a time.
const WINDOW: u32 = 50;

/// The time that `WINDOW` steps of a run take, once it has made `before` of them.
fn steps_of_the_loop(runtime: &tokio::runtime::Runtime, before: u32) -> Duration {
    let steps = before + WINDOW + 1;
    let replies = (1..steps).map(|_| Reply::call("look", arguments())).chain([Reply::text("done")]);
    let marks = Arc::new(Mutex::new(Vec::with_capacity(2)));
    let noted = Arc::clone(&marks);
    let agent = Agent::builder("bench")
        .model(ScriptedModel::new(replies).without_recording())
        .instructions("Answer from the catalogue.")
        .before_model("mark", move |request: &mut ModelRequest<'_>| {
            if request.step() == before + 1 || request.step() == before + 1 + WINDOW {
                noted.lock().unwrap().push(Instant::now());
            }
        })
        .tools(tools![look])
        .hooks(hooks![first, second, third])
        .budget(Budget::new().max_steps(steps))
        .build()
        .unwrap();
    runtime.block_on(agent.invoke("Which lamps do we have?")).unwrap();
    let marks = marks.lock().unwrap();
    marks[1] - marks[0]
}

type Reported<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A model for a loop that is written by hand.
struct Script {
    replies: Vec<(Option<String>, Vec<ToolCall>)>,
    asked: Mutex<usize>,
}

impl Script {
    fn respond<'a>(&'a self, messages: &'a [Arc<Message>]) -> Reported<'a, (Option<String>, Vec<ToolCall>)> {
        Box::pin(async move {
            black_box(messages);
            let mut asked = self.asked.lock().unwrap();
            *asked += 1;
            self.replies[*asked - 1].clone()
        })
    }
}

fn run_look(arguments: Value) -> Reported<'static, Value> {
    Box::pin(async move {
        #[derive(Deserialize)]
        struct Arguments {
            at: Vec<String>,
        }
        let arguments: Arguments = serde_json::from_value(arguments).unwrap();
        serde_json::to_value(look(arguments.at)).unwrap()
    })
}

/// The same steps over the same messages, written by hand: no drafts, no policy, no receipts, no events.
fn steps_by_hand(runtime: &tokio::runtime::Runtime, before: u32) -> Duration {
    let steps = before + WINDOW + 1;
    let call = || ToolCall::new("call_1", "look", arguments());
    let replies = (0..steps).map(|_| (None, vec![call()])).collect();
    let model = Script { replies, asked: Mutex::new(0) };
    runtime.block_on(async {
        let mut history = vec![Arc::new(Message::user("Which lamps do we have?"))];
        let mut began = Instant::now();
        for step in 0..before + WINDOW {
            if step == before {
                began = Instant::now();
            }
            black_box(step);
            black_box(history.len());
            let (text, calls) = model.respond(&history).await;
            let mut exchanges = Vec::with_capacity(calls.len());
            for call in calls {
                let result = run_look(call.arguments.clone()).await;
                black_box(&result);
                exchanges.push(Exchange { call, outcome: ToolOutcome::Observed(result.into()) });
            }
            history.push(Arc::new(Message::Assistant(Turn::new(text, exchanges))));
        }
        began.elapsed()
    })
}

/// Has criterion believe that one step is one iteration.
fn per_step(iterations: u64, mut window: impl FnMut() -> Duration) -> Duration {
    let windows = iterations.div_ceil(u64::from(WINDOW)).max(1);
    let total: Duration = (0..windows).map(|_| window()).sum();
    let nanos = total.as_nanos() * u128::from(iterations) / u128::from(windows * u64::from(WINDOW));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

fn steps(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut group = criterion.benchmark_group("step");
    group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for before in [10, 2_000] {
        group.bench_with_input(BenchmarkId::new("by_hand", before), &before, |bencher, before| {
            bencher.iter_custom(|iterations| per_step(iterations, || steps_by_hand(&runtime, *before)));
        });
        group.bench_with_input(BenchmarkId::new("three_hooks_one_tool", before), &before, |bencher, before| {
            bencher.iter_custom(|iterations| per_step(iterations, || steps_of_the_loop(&runtime, *before)));
        });
    }
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
