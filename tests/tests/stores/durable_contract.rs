//! D5, D6: a run goes on under the contract that it was started with, or after an acceptance that names what changed.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{AgentBuilder, DynTool};
use protolink_tests::durable::{Outcome, Place, on_both};
use serde_json::{Value, json};

#[before_model]
fn greet(request: &mut ModelRequest<'_>) {
    request.history().append_system("Greet first.");
}

#[before_model]
fn shorten(request: &mut ModelRequest<'_>) {
    request.history().append_system("Be short.");
}

fn look(description: &str) -> DynTool {
    DynTool::new("look", description, json!({ "type": "object" }), |_, _| async { Ok::<Value, ToolError>(Value::Null) })
}

fn asks() -> ScriptedModel {
    ScriptedModel::from_fn(|request| match request.messages.len() {
        1 => Reply::call("ask_user", json!({ "question": "?" })),
        _ => Reply::text("done"),
    })
}

/// The agent that starts the run.
fn first() -> AgentBuilder {
    Agent::builder("a")
        .instructions("Answer.")
        .model(asks())
        .ask_user()
        .dyn_tool(look("Looks."))
        .hooks(hooks![greet, shorten])
}

/// What a resume of a run that waits says when it is taken up by `other`.
async fn refusal(place: &Place, other: AgentBuilder) -> Outcome<Vec<String>> {
    let agent = first().durable(place.store()?).build()?;
    let outcome = agent.run("go").await?;
    let asked = outcome.interruption().ok_or("it asks")?;
    let other = other.durable(place.store()?).build()?;
    match other.resume(&asked.run_id).answer(asked, "yes").await {
        Ok(_) => Ok(Vec::new()),
        Err(Error::ContractChanged { run_id, changes }) => {
            assert_eq!(run_id, asked.run_id);
            // The refusal is not a dead end: it names what is to be accepted.
            let accepted = other.resume(&run_id).accept(changes.clone()).answer(asked, "yes").await?;
            assert!(accepted.answer().is_some());
            Ok(changes.iter().map(ToString::to_string).collect())
        }
        Err(error) => Err(error.into()),
    }
}

#[tokio::test]
async fn d5_a_changed_contract_is_refused_in_words() -> Outcome {
    on_both(async |place| {
        let base = || Agent::builder("a").instructions("Answer.").model(asks()).ask_user();
        let with_tool = || base().dyn_tool(look("Looks."));
        let cases: Vec<(AgentBuilder, &[&str])> = vec![
            (first(), &[]),
            (first().budget(Budget::new().max_steps(7)).max_tool_corrections(9), &[]),
            (first().instructions("Answer well."), &["the instructions changed"]),
            (first().execution_version("2"), &["the execution version changed"]),
            (first().model(asks().named("newer")), &["the model changed"]),
            (first().context_policy(ContextPolicy::new(100_000)), &["the context policy changed"]),
            (base().dyn_tool(look("Looks well.")).hooks(hooks![greet, shorten]), &["the tool `look` changed"]),
            (
                base().dyn_tool(look("Looks.").capability("eyes")).hooks(hooks![greet, shorten]),
                &["the tool `look` changed"],
            ),
            (base().hooks(hooks![greet, shorten]), &["the tool `look` was removed"]),
            (with_tool().hooks(hooks![greet]), &["shorten", "was removed"]),
            (with_tool().hooks(hooks![shorten, greet]), &["moved from place"]),
            (
                first().before_complete("check", |_: &mut FinalResponse<'_>| ()),
                &["the before_complete hook", "check", "was added"],
            ),
        ];
        for (agent, words) in cases {
            let said = refusal(place, agent).await?.join("; ");
            assert_eq!(said.is_empty(), words.is_empty(), "{said}");
            for word in words {
                assert!(said.contains(word), "{said:?} should say {word:?}");
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d5_an_acceptance_of_something_else_is_none() -> Outcome {
    on_both(async |place| {
        let agent = first().durable(place.store()?).build()?;
        let outcome = agent.run("go").await?;
        let run_id = &outcome.interruption().ok_or("it asks")?.run_id;
        let other = first().execution_version("2").instructions("Another.").durable(place.store()?).build()?;
        let changes = agent.fingerprint().diff(other.fingerprint());
        assert_eq!(changes.len(), 2);
        for not_enough in [Vec::new(), vec![changes[0].clone()], vec![changes[1].clone()]] {
            let refused = other.resume(run_id).accept(not_enough).await.expect_err("not all is accepted");
            assert!(matches!(refused, Error::ContractChanged { .. }));
        }
        // The refusals left no trace, and the first agent can still go on.
        assert_eq!(agent.resume(run_id).await?, outcome);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn d6_an_accepted_contract_is_the_runs_contract_from_then_on() -> Outcome {
    on_both(async |place| {
        let agent = first().durable(place.store()?).build()?;
        let outcome = agent.run("go").await?;
        let run_id = &outcome.interruption().ok_or("it asks")?.run_id;
        let newer = || first().execution_version("2").durable(place.store().expect("it opens")).build();
        let changes = agent.fingerprint().diff(newer()?.fingerprint());
        let _ = newer()?.resume(run_id).accept(changes).await?;
        assert!(newer()?.resume(run_id).await?.interruption().is_some(), "once is enough");
        let back = agent.resume(run_id).await.expect_err("the first agent is the other one now");
        assert!(matches!(back, Error::ContractChanged { .. }));
        Ok(())
    })
    .await
}
