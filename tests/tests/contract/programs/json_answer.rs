//! An answer that must be JSON of one shape: what does not fit goes back to the model with the reason.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Plan {
    steps: Vec<String>,
}

#[before_complete]
fn at_most_two(plan: &mut FinalResponse<'_, Plan>) {
    plan.answer_mut().steps.truncate(2);
}

#[tokio::test]
async fn f1_a_structured_answer_is_mended_by_the_model_and_checked_in_its_type() {
    let model = ScriptedModel::new([
        Reply::text("first a, then b"),
        Reply::text(
            r#"```json
{ "steps": ["a", "b", "c"] }
```"#,
        ),
    ]);
    let agent =
        Agent::builder("planner").model(model.clone()).answer::<Plan>().hooks(hooks![at_most_two]).build().unwrap();
    let plan = agent.invoke("Plan it.").await.unwrap();
    assert_eq!(plan, Plan { steps: vec!["a".to_owned(), "b".to_owned()] });

    let requests = model.requests();
    assert!(requests[0].answer_schema.is_some());
    let feedback = requests[1].messages.last().and_then(|message| message.text()).unwrap();
    assert!(feedback.contains("does not fit"), "{feedback}");
}
