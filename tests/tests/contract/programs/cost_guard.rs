//! Spending stops before the limit is passed, and a hook warns the model in time.

use protolink::prelude::*;
use protolink::rules::BudgetLimit;
use protolink::testing::{Reply, ScriptedModel};
use serde_json::json;

/// Think about it for a while.
#[tool]
fn ponder() -> String {
    "hmm".to_owned()
}

#[before_model]
fn last_chance(request: &mut ModelRequest<'_>) {
    if request.step() == 3 {
        request.tools().retain(|_| false);
        request.this_step().append_system("This is the last step. Answer now.");
    }
}

#[tokio::test]
async fn p2_a_hook_brings_a_run_to_its_answer_within_the_budget() {
    let model = ScriptedModel::from_fn(|request| {
        if request.tools.is_empty() { Reply::text("42") } else { Reply::call("ponder", json!({})) }
    });
    let build = |hooked: bool| {
        let agent =
            Agent::builder("thinker").model(model.clone()).tools(tools![ponder]).budget(Budget::new().max_steps(3));
        if hooked { agent.hooks(hooks![last_chance]).build() } else { agent.build() }
    };
    assert_eq!(build(true).unwrap().invoke("Think.").await.unwrap().text(), "42");
    let error = build(false).unwrap().invoke("Think.").await.unwrap_err();
    assert!(matches!(error, Error::Budget { limit: BudgetLimit::Steps(3), .. }), "{error}");
}
