//! P1: a policy by capabilities, in which the strictest word about a tool counts.

use std::error::Error as StdError;

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{ToolError, ToolOutcome};
use protolink_tests::{Counter, agent, effect};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

/// What becomes of a call of a tool with these capabilities.
async fn outcome(policy: CapabilityPolicy, capabilities: &[&str]) -> Result<String, Box<dyn StdError>> {
    let done = Counter::new();
    let tool = capabilities.iter().fold(effect("files", &done), |tool, capability| tool.capability(*capability));
    let model = ScriptedModel::new([Reply::call("files", json!({})), Reply::text("done")]);
    let answer = agent(&model).dyn_tool(tool).policy(policy).build()?.invoke("go").await;
    let word = match answer {
        Err(Error::ApprovalUnavailable { .. }) => "asks",
        Err(error) => return Err(error.into()),
        Ok(_) => match &model.requests()[1].messages[1].calls()[0].outcome {
            ToolOutcome::Observed(_) => "runs",
            ToolOutcome::Denied(_) => "denied",
            other => return Err(format!("{other:?}").into()),
        },
    };
    assert_eq!(done.get(), usize::from(word == "runs"), "{word}");
    Ok(word.to_owned())
}

#[tokio::test]
async fn p1_the_strictest_word_about_a_tools_capabilities_counts() -> Tested {
    let policy = || CapabilityPolicy::new().allow("files").allow("read").require_approval("write").deny("delete");
    assert_eq!(outcome(policy(), &["read"]).await?, "runs");
    assert_eq!(outcome(policy(), &["read", "write"]).await?, "asks");
    assert_eq!(outcome(policy(), &["delete", "write", "read"]).await?, "denied");
    assert_eq!(outcome(policy(), &["unheard of"]).await?, "runs", "what nobody named is allowed");
    Ok(())
}

#[tokio::test]
async fn p1_what_nobody_named_can_be_denied() -> Tested {
    let policy = || CapabilityPolicy::new().allow("files").require_approval("write").deny_others();
    assert_eq!(outcome(policy(), &[]).await?, "runs");
    assert_eq!(outcome(policy(), &["write"]).await?, "asks");
    assert_eq!(outcome(policy(), &["write", "unheard of"]).await?, "denied");
    assert_eq!(outcome(policy().allow("unheard of"), &["unheard of"]).await?, "runs");
    Ok(())
}

#[tokio::test]
async fn p1_the_last_word_about_a_capability_counts() -> Tested {
    let policy = CapabilityPolicy::new().deny("files").allow("files");
    assert_eq!(outcome(policy, &[]).await?, "runs");
    Ok(())
}

#[test]
fn a_tools_error_says_in_words_what_happened() {
    let lost = || std::io::Error::other("the line is dead");
    let cases = [
        (ToolError::rejected("the number must be even"), "rejected: the number must be even", "Rejected"),
        (ToolError::failed(lost()), "the line is dead", "Failed"),
        (ToolError::reported(lost()), "the line is dead", "Reported"),
        (ToolError::uncertain(lost()), "the line is dead", "Uncertain"),
        (ToolError::from(lost()), "the line is dead", "Failed"),
    ];
    for (error, words, kind) in cases {
        assert_eq!(error.to_string(), words);
        let debug = format!("{error:?}");
        assert!(debug.starts_with(kind) && debug.contains(words.trim_start_matches("rejected: ")), "{debug}");
    }
}
