//! A hook that changes nothing, as the loop runs it, beside the same function called directly.

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use protolink::prelude::*;
use protolink::testing::RequestFixture;
use tokio::runtime::Runtime;

use crate::clock::ThreadClock;
use crate::subject::CallsAndAnswers;

/// How many hooks run in the step that is measured.
const HOOKS: u32 = 100;

fn looks(request: &mut ModelRequest<'_>) {
    black_box(request.step());
}

async fn looks_later(request: &mut ModelRequest<'_>) {
    black_box(request.step());
}

/// An agent that answers at once, with so many hooks.
fn agent(hooks: u32, register: impl Fn(protolink::AgentBuilder, String) -> protolink::AgentBuilder) -> Agent {
    let builder = Agent::builder("bench").model(CallsAndAnswers::new());
    (0..hooks).fold(builder, |builder, number| register(builder, format!("hook {number}"))).build().unwrap()
}

/// The time of so many hooks: of runs with them, less that of runs without.
fn time(runtime: &Runtime, with: &Agent, without: &Agent, hooks: u64) -> Duration {
    let of = |agent: &Agent| {
        let began = cpu_time::ThreadTime::now();
        black_box(runtime.block_on(agent.invoke("go")).unwrap());
        began.elapsed()
    };
    let runs = hooks.div_ceil(u64::from(HOOKS)).max(1);
    let total: Duration = (0..runs).map(|_| of(with).saturating_sub(of(without))).sum();
    let nanos = total.as_nanos() * u128::from(hooks) / u128::from(runs * u64::from(HOOKS));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

pub(crate) fn sync_hooks(criterion: &mut Criterion<ThreadClock>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut group = criterion.benchmark_group("sync_hook");
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    group.bench_function("called_directly", |bencher| {
        RequestFixture::new().user("go").with(|request: &mut ModelRequest<'_>| bencher.iter(|| looks(request)));
    });
    let with = agent(HOOKS, |builder, name| builder.before_model(name, looks));
    let without = agent(0, |builder, _| builder);
    group.bench_function("in_the_loop", |bencher| {
        bencher.iter_custom(|hooks| time(&runtime, &with, &without, hooks));
    });
    group.finish();
}

pub(crate) fn async_hooks(criterion: &mut Criterion<ThreadClock>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut group = criterion.benchmark_group("async_hook");
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    group.bench_function("called_directly", |bencher| {
        RequestFixture::new().user("go").with(|request: &mut ModelRequest<'_>| {
            bencher.iter_custom(|hooks| {
                runtime.block_on(async {
                    let began = cpu_time::ThreadTime::now();
                    for _ in 0..hooks {
                        looks_later(request).await;
                    }
                    began.elapsed()
                })
            });
        });
    });
    let with = agent(HOOKS, |builder, name| builder.before_model(name, looks_later));
    let without = agent(0, |builder, _| builder);
    group.bench_function("in_the_loop", |bencher| {
        bencher.iter_custom(|hooks| time(&runtime, &with, &without, hooks));
    });
    group.finish();
}
