//! A step of three sync hooks and one tool, after ten steps and after two thousand, beside the one written by hand.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion};
use protolink::Conversation;
use protolink::prelude::*;
use tokio::runtime::Runtime;

use crate::by_hand;
use crate::clock::{self, ThreadClock};
use crate::subject::{CallsAndAnswers, look, reads_the_history, reads_the_result, reads_the_step};

/// How many steps are measured at a time.
const MEASURED: u32 = 50;

/// How often a history is measured before it is built anew: it grows by what is measured.
const REUSED: u32 = 4;

/// Histories are kept, up to so many steps of them, so that what goes on with a short one writes to memory that is as
/// fresh as with a long one.
const KEPT: u32 = 50_000;

/// A history and what goes on with it.
trait Subject: Sized {
    /// One of so many steps.
    fn after(runtime: &Runtime, steps: u32) -> Self;

    /// Makes the steps to be measured.
    fn go_on(&mut self, runtime: &Runtime);
}

struct InTheLoop {
    model: Arc<CallsAndAnswers>,
    conversation: Conversation,
}

impl Subject for InTheLoop {
    fn after(runtime: &Runtime, steps: u32) -> Self {
        let model = Arc::new(CallsAndAnswers::new());
        let agent = Agent::builder("bench")
            .model(Arc::clone(&model))
            .instructions("Answer from the catalogue.")
            .before_model("clock", |request: &mut ModelRequest<'_>| {
                if request.step() == 1 {
                    clock::begin();
                } else if request.step() == MEASURED + 1 {
                    clock::end();
                }
            })
            .tools(tools![look])
            .hooks(hooks![reads_the_step, reads_the_history, reads_the_result])
            .budget(Budget::new().max_steps(u32::MAX))
            .build()
            .unwrap();
        let mut conversation = agent.conversation();
        model.makes(steps);
        runtime.block_on(conversation.invoke("Which lamps do we have?")).unwrap();
        Self { model, conversation }
    }

    fn go_on(&mut self, runtime: &Runtime) {
        self.model.makes(MEASURED + 1);
        runtime.block_on(self.conversation.invoke("Which lamps do we have?")).unwrap();
    }
}

struct ByHand {
    model: CallsAndAnswers,
    history: Vec<Arc<Message>>,
}

impl Subject for ByHand {
    fn after(runtime: &Runtime, steps: u32) -> Self {
        let (model, mut history) = (CallsAndAnswers::new(), Vec::new());
        model.makes(steps);
        runtime.block_on(by_hand::run(&model, &mut history, MEASURED));
        Self { model, history }
    }

    fn go_on(&mut self, runtime: &Runtime) {
        self.model.makes(MEASURED + 1);
        runtime.block_on(by_hand::run(&self.model, &mut self.history, MEASURED));
    }
}

/// The time of so many steps on histories of this length.
fn time<S: Subject>(runtime: &Runtime, before: u32, steps: u64) -> Duration {
    let windows = steps.div_ceil(u64::from(MEASURED)).max(1);
    let (mut kept, mut kept_steps, mut total) = (Vec::new(), 0, Duration::ZERO);
    let mut subject = S::after(runtime, before);
    for window in 1..=windows {
        subject.go_on(runtime);
        total += clock::took();
        if window % u64::from(REUSED) == 0 {
            let next = S::after(runtime, before);
            kept.push(std::mem::replace(&mut subject, next));
            kept_steps += before + MEASURED * REUSED;
            if kept_steps > KEPT {
                kept.clear();
                kept_steps = 0;
            }
        }
    }
    // Criterion asked for so many steps, and whole windows were measured.
    let nanos = total.as_nanos() * u128::from(steps) / u128::from(windows * u64::from(MEASURED));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Takes more memory from the system than is measured on, and keeps the end of it, so that none is given back: what a
/// long history is measured on is then as warm as what a short one is.
fn warm_the_heap() {
    const PIECES: usize = 1 << 18;
    let pieces: Vec<Vec<u8>> = (0..PIECES).map(|_| vec![1; 1 << 10]).collect();
    std::mem::forget(black_box(Box::new([1_u8; 64])));
    drop(black_box(pieces));
}

pub(crate) fn steps(criterion: &mut Criterion<ThreadClock>) {
    warm_the_heap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut group = criterion.benchmark_group("step");
    group.sample_size(30).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(1));
    for before in [10, 2_000] {
        group.bench_with_input(BenchmarkId::new("by_hand", before), &before, |bencher, before| {
            bencher.iter_custom(|steps| time::<ByHand>(&runtime, *before, steps));
        });
        group.bench_with_input(BenchmarkId::new("three_hooks_one_tool", before), &before, |bencher, before| {
            bencher.iter_custom(|steps| time::<InTheLoop>(&runtime, *before, steps));
        });
    }
    group.finish();
    println!("a step behind 2,000 / behind 10, by hand: {:.2}", ratio::<ByHand>(&runtime));
    println!("a step behind 2,000 / behind 10, in the loop: {:.2} (limit 1.20)", ratio::<InTheLoop>(&runtime));
}

/// What a late step costs over an early one: the median of pairs that are measured one right behind the other, so that
/// whatever else the machine does meets both.
fn ratio<S: Subject>(runtime: &Runtime) -> f64 {
    const PAIRS: u32 = 400;
    let mut pairs: Vec<(S, S)> = Vec::new();
    let mut ratios = Vec::new();
    for pair in 0..PAIRS {
        if pair % REUSED == 0 {
            pairs.push((S::after(runtime, 10), S::after(runtime, 2_000)));
        }
        let Some((early, late)) = pairs.last_mut() else { continue };
        let took = |subject: &mut S| {
            subject.go_on(runtime);
            clock::took().as_secs_f64()
        };
        // Each goes first half of the time.
        if pair % 2 == 0 {
            let early = took(early);
            ratios.push(took(late) / early);
        } else {
            let late = took(late);
            ratios.push(late / took(early));
        }
    }
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}
