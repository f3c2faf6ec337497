//! A result of ten megabytes: without a hook, with one that reads it, with one that changes it, beside one copy of it.

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use protolink::DynTool;
use protolink::prelude::*;
use protolink::tool::ToolContext;
use serde_json::{Map, Value, json};

use crate::clock::ThreadClock;
use crate::subject::CallsAndAnswers;

const BYTES: usize = 10_000_000;

fn reads(observation: &mut ToolObservation<'_>) {
    black_box(observation.result()["text"].as_str().map(str::len));
}

fn changes(observation: &mut ToolObservation<'_>) {
    observation.result_mut()["seen"] = json!(true);
}

fn large() -> Value {
    // `json!` would copy it.
    Value::Object(Map::from_iter([("text".to_owned(), Value::String("z".repeat(BYTES)))]))
}

fn agent(
    hook: impl FnOnce(protolink::AgentBuilder) -> protolink::AgentBuilder,
) -> (Agent, std::sync::Arc<CallsAndAnswers>) {
    let model = std::sync::Arc::new(CallsAndAnswers::new());
    let tool = DynTool::new("look", "Finds much.", json!({ "type": "object" }), |_, _: ToolContext| async move {
        Ok::<_, ToolError>(large())
    });
    let builder = Agent::builder("bench").model(std::sync::Arc::clone(&model)).dyn_tool(tool);
    (hook(builder).build().unwrap(), model)
}

pub(crate) fn read_or_changed(criterion: &mut Criterion<ThreadClock>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut group = criterion.benchmark_group("result_of_10_mb");
    group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    let value = large();
    group.bench_function("one_copy", |bencher| bencher.iter(|| value.clone()));
    let agents = [
        ("no_hook", agent(|builder| builder)),
        ("a_hook_that_reads", agent(|builder| builder.after_tool("reads", reads))),
        ("a_hook_that_changes", agent(|builder| builder.after_tool("changes", changes))),
    ];
    for (name, (agent, model)) in &agents {
        group.bench_function(*name, |bencher| {
            bencher.iter(|| {
                model.makes(1);
                runtime.block_on(agent.invoke("go")).unwrap()
            });
        });
    }
    group.finish();
}
