//! D4: a person may say no, to a call and to a question.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{Interruption, ToolOutcome};
use protolink_tests::durable::{Outcome, on_both};
use serde_json::json;

fn asks() -> ScriptedModel {
    ScriptedModel::from_fn(|request| match request.messages.len() {
        1 => Reply::call("ask_user", json!({ "question": "Which colour?" })),
        _ => Reply::text("then it stays white"),
    })
}

async fn asked(agent: &Agent) -> Outcome<Interruption> {
    let outcome = agent.run("paint it").run_id("r").await?;
    Ok(outcome.interruption().ok_or("it asks")?.clone())
}

#[tokio::test]
async fn d4_a_question_can_be_declined_and_the_run_goes_on() -> Outcome {
    for (reason, told) in [(None, "the user declined to answer"), (Some("that is a secret"), "that is a secret")] {
        on_both(async |place| {
            let model = asks();
            let agent = || -> Outcome<Agent> {
                Ok(Agent::builder("painter").model(model.clone()).ask_user().durable(place.store()?).build()?)
            };
            let question = asked(&agent()?).await?;
            // Another process, and a word that came by post.
            let question: Interruption = serde_json::from_str(&serde_json::to_string(&question)?)?;
            let second = agent()?;
            let resume = second.resume("r");
            let outcome = match reason {
                None => resume.reject(&question).await?,
                Some(reason) => resume.reject_because(&question, reason).await?,
            };
            let answer = outcome.answer().ok_or("it goes on")?;
            assert_eq!(answer.text(), "then it stays white");
            let requests = model.requests();
            assert_eq!(requests[1].messages[1].calls()[0].outcome, ToolOutcome::Denied(told.to_owned()));
            assert_eq!(agent()?.interruption("r").await?, None);
            Ok(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn d4_a_declined_question_leaves_no_answer_for_checks_to_find() -> Outcome {
    on_both(async |place| {
        let agent = Agent::builder("painter")
            .model(asks())
            .ask_user()
            .before_complete("cite", |response: &mut FinalResponse<'_>| {
                let answers = response.receipts().iter().filter(|receipt| receipt.result().is_some()).count();
                response.set_text(format!("{answers} answers"));
            })
            .durable(place.store()?)
            .build()?;
        let question = asked(&agent).await?;
        let outcome = agent.resume("r").reject(&question).await?;
        assert_eq!(outcome.answer().map(Answer::text), Some("0 answers"));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d4_a_question_is_not_approved_and_a_no_comes_once() -> Outcome {
    on_both(async |place| {
        let agent = Agent::builder("painter").model(asks()).ask_user().durable(place.store()?).build()?;
        let question = asked(&agent).await?;
        let refused = agent.resume("r").approve(&question).await.expect_err("there is nothing to approve");
        let text = refused.to_string();
        assert!(matches!(refused, Error::StaleResponse { .. }) && text.contains("an answer, not"), "{text}");
        assert!(agent.interruption("r").await?.is_some(), "it still waits");
        let _ = agent.resume("r").reject(&question).await?;
        let late = agent.resume("r").reject(&question).await.expect_err("the run is over");
        assert!(matches!(late, Error::StaleResponse { .. }), "{late:?}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d4_a_direct_question_that_is_declined_is_a_refused_call() -> Outcome {
    on_both(async |place| {
        let agent = Agent::builder("painter").model(asks()).ask_user().durable(place.store()?).build()?;
        let asked = agent.call_tool("ask_user", json!({ "question": "Which colour?" })).await;
        let Err(Error::Interrupted(question)) = asked else { return Err(format!("{asked:?}").into()) };
        let refused = agent.resume(&question.run_id).reject(&question).await.expect_err("there is no answer");
        let Error::CallRefused { tool, reason, .. } = refused else { return Err(refused.into()) };
        assert_eq!(tool, "ask_user");
        assert!(reason.ends_with("the user declined to answer"), "{reason}");
        Ok(())
    })
    .await
}
