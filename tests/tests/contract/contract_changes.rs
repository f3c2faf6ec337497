//! D5, D6: what changed of an agent is told in words that say which part it is.

use std::error::Error as StdError;

use protolink::prelude::*;
use protolink::testing::ScriptedModel;
use protolink::{AgentBuilder, AgentHooks, BuildError, ContractChange, ContractFingerprint, PartKind};
use protolink_tests::{agent_once, value_tool};
use serde_json::{Value, json};

type Tested = Result<(), Box<dyn StdError>>;

fn fingerprint(change: impl FnOnce(AgentBuilder) -> AgentBuilder) -> Result<ContractFingerprint, BuildError> {
    let agent = change(agent_once(&ScriptedModel::new([])));
    Ok(agent.build()?.fingerprint().clone())
}

/// The differences in words, in both directions.
fn words(from: &ContractFingerprint, to: &ContractFingerprint) -> Vec<String> {
    let both = from.diff(to).into_iter().chain(to.diff(from));
    both.map(|change| change.to_string()).collect()
}

/// A fingerprint, changed as if it had been read from a store.
fn stored(
    fingerprint: &ContractFingerprint,
    change: impl FnOnce(&mut Value),
) -> Result<ContractFingerprint, Box<dyn StdError>> {
    let mut json = serde_json::to_value(fingerprint)?;
    change(&mut json);
    Ok(serde_json::from_value(json)?)
}

#[test]
fn d5_a_setting_that_changed_is_named() -> Tested {
    let plain = fingerprint(|agent| agent)?;
    let told = fingerprint(|agent| agent.instructions("Be brief."))?;
    assert_eq!(words(&plain, &told), ["the instructions changed", "the instructions changed"]);
    let changes = plain.diff(&told);
    assert!(changes.iter().all(|change| change.kind() == Some(PartKind::Setting)), "{changes:?}");
    assert!(plain.diff(&plain).is_empty());
    assert_ne!(plain.digest(), told.digest());
    assert!(plain.to_string().starts_with("cf1:"), "{plain}");
    Ok(())
}

#[test]
fn d5_parts_that_came_and_went_are_named_with_their_kind() -> Tested {
    let plain = fingerprint(|agent| agent)?;
    let more = fingerprint(|agent| {
        let rules = AgentHooks::new()
            .before_model("trim", |_: &mut ModelRequest<'_>| ())
            .after_tool("cut", |_: &mut ToolObservation<'_>| ())
            .before_complete("check", |_: &mut FinalResponse<'_>| ());
        agent.dyn_tool(value_tool("look", json!(1))).group(rules)
    })?;
    assert_eq!(
        words(&plain, &more),
        [
            "the tool `look` was added",
            "the before_model hook `trim` was added",
            "the after_tool hook `cut` was added",
            "the before_complete hook `check` was added",
            "the tool `look` was removed",
            "the before_model hook `trim` was removed",
            "the after_tool hook `cut` was removed",
            "the before_complete hook `check` was removed",
        ]
    );
    Ok(())
}

#[test]
fn d5_a_setting_of_another_version_of_this_crate_came_or_went() -> Tested {
    let now = fingerprint(|agent| agent)?;
    let later = stored(&now, |json| {
        let mut part = json["parts"][0].clone();
        part["name"] = json!("patience");
        json["parts"].as_array_mut().expect("it is a list").push(part);
        json["digest"] = json!("0".repeat(64));
    })?;
    assert_eq!(words(&now, &later), ["the patience was added", "the patience was removed"]);
    Ok(())
}

#[test]
fn d6_fingerprints_of_two_algorithms_are_not_compared_part_by_part() -> Tested {
    let now = fingerprint(|agent| agent)?;
    let later = stored(&now, |json| json["version"] = json!(2))?;
    assert_eq!(now.diff(&later), [ContractChange::Algorithm { from: 1, to: 2 }]);
    assert_eq!(now.diff(&later)[0].kind(), None);
    assert_eq!(
        words(&now, &later),
        [
            "the fingerprint's algorithm changed from version 1 to version 2",
            "the fingerprint's algorithm changed from version 2 to version 1",
        ]
    );
    Ok(())
}
