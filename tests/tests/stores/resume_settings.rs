//! What a resume can be told besides the answer that it waits for.

use std::sync::Arc;

use protolink::durable::RunStore;
use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink_tests::durable::{Outcome, on_both};
use serde_json::json;

/// Asks once, and then answers in pieces.
fn asks() -> ScriptedModel {
    ScriptedModel::from_fn(|request| match request.messages.len() {
        1 => Reply::call("ask_user", json!({ "question": "?" })),
        _ => Reply::chunks(["secret ", "draft"]),
    })
}

fn agent(store: Arc<dyn RunStore>) -> Outcome<Agent> {
    let agent = Agent::builder("a").model(asks()).ask_user().durable(store);
    Ok(agent.before_complete("redact", |response: &mut FinalResponse<'_>| response.set_text("fine")).build()?)
}

#[tokio::test]
async fn f4_a_resume_can_hold_text_back_until_the_check_has_passed() -> Outcome {
    on_both(async |place| {
        for (hold, shown) in [(false, vec!["secret ", "draft"]), (true, vec!["fine"])] {
            let agent = agent(place.store()?)?;
            let outcome = agent.run("go").run_id(format!("r-{hold}")).await?;
            let asked = outcome.interruption().ok_or("it asks")?;
            let resume = agent.resume(&asked.run_id).answer(asked, "s3cret").hold_output(hold);
            let printed = format!("{resume:?}");
            assert!(printed.contains(asked.run_id.as_str()) && !printed.contains("s3cret"), "{printed}");
            let (mut texts, mut stream) = (Vec::new(), resume.stream());
            while let Some(event) = stream.next().await {
                if let RunEvent::TextDelta { text, .. } = event? {
                    texts.push(text);
                }
            }
            assert_eq!(texts, shown);
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn f1_a_run_for_any_answer_is_not_resumed_for_one_of_a_type() -> Outcome {
    on_both(async |place| {
        let agent = agent(place.store()?)?;
        let outcome = agent.run("go").run_id("r").await?;
        let asked = outcome.interruption().ok_or("it asks")?;
        let refused =
            agent.resume("r").answer(asked, "yes").answer_as::<u8>().await.expect_err("no type was asked for");
        let text = refused.to_string();
        assert!(matches!(refused, Error::NotResumable { .. }) && text.contains("not started for an answer"), "{text}");
        assert!(agent.interruption("r").await?.is_some(), "it still waits");
        let outcome = agent.resume("r").answer(asked, "yes").await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("fine"));
        Ok(())
    })
    .await
}
