//! What a user may not do is neither offered nor done, and the policy says so once more.

use protolink::prelude::*;
use protolink::rules::{Decision, Policy, PolicyRequest};
use protolink::testing::{Reply, ScriptedModel};
use serde_json::json;

/// Read a report.
#[tool(capability = "reports.read")]
fn read_report() -> String {
    "all is well".to_owned()
}

/// Erase a report.
#[tool(capability = "reports.erase")]
fn erase_report() -> String {
    "erased".to_owned()
}

#[before_model]
fn only_what_the_user_may(request: &mut ModelRequest<'_>) {
    let admin = request.context().get("role").is_some_and(|role| role == "admin");
    if !admin {
        request.tools().retain(|tool| !tool.capabilities().iter().any(|capability| capability == "reports.erase"));
    }
}

struct AdminsErase;

impl Policy for AdminsErase {
    fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
        let erases = request.tool.capabilities().iter().any(|capability| capability == "reports.erase");
        if erases && request.context.get("role").is_none_or(|role| role != "admin") {
            Decision::Deny { reason: "only an admin erases".to_owned() }
        } else {
            Decision::Allow
        }
    }
}

#[tokio::test]
async fn m4_p1_a_user_is_offered_what_the_user_may_do() {
    for (role, offered, erased) in
        [("guest", vec!["read_report"], false), ("admin", vec!["read_report", "erase_report"], true)]
    {
        let model = ScriptedModel::new([Reply::call("erase_report", json!({})), Reply::text("done")]);
        let agent = Agent::builder("reports")
            .model(model.clone())
            .tools(tools![read_report, erase_report])
            .hooks(hooks![only_what_the_user_may])
            .policy(AdminsErase)
            .build()
            .unwrap();
        let outcome = agent.run("Erase it.").context("role", role).await.unwrap();
        assert!(outcome.answer().is_some());
        assert_eq!(model.requests()[0].tools, offered);
        let seen = model.requests()[1].messages[1].calls()[0].outcome.observed().cloned();
        assert_eq!(seen.is_some(), erased, "{role}");
    }
}
