//! D5, D6: what a contract is made of, and what a difference is told as.

use std::error::Error as StdError;

use protolink::prelude::*;
use protolink::testing::ScriptedModel;
use protolink::{BuildError, ContractChange, ListFingerprint, PartKind, hooks_fingerprint};
use protolink_tests::{agent, value_tool};
use serde_json::json;

type Tested = Result<(), Box<dyn StdError>>;

/// An agent with these tools and these closures, in their order.
fn built(tools: &[&str], hooks: &[&str]) -> Result<Agent, BuildError> {
    let mut builder = agent(&ScriptedModel::new([]));
    for name in tools {
        builder = builder.dyn_tool(value_tool(name, json!(1)));
    }
    for name in hooks {
        builder = builder.before_model(*name, |_: &mut ModelRequest<'_>| ());
    }
    builder.build()
}

#[test]
fn d6_a_contract_names_its_tools_and_its_hooks_in_the_order_in_which_they_run() -> Tested {
    let agent = built(&["look", "pay"], &["b", "a", "b"])?;
    let of_kind = |kind| -> Vec<&str> {
        let parts = agent.fingerprint().parts().iter().filter(|part| part.kind == kind);
        parts.map(|part| part.name.as_str()).collect()
    };
    assert_eq!(of_kind(PartKind::Tool), ["look", "pay"]);
    assert_eq!(of_kind(PartKind::BeforeModel), ["b", "a", "b#2"]);
    assert!(of_kind(PartKind::AfterTool).is_empty());
    assert!(!of_kind(PartKind::Setting).is_empty());
    let printed = agent.fingerprint().to_string();
    assert_eq!(printed, format!("cf1:{}", agent.fingerprint().digest()));
    Ok(())
}

#[test]
fn d5_a_difference_is_told_by_the_places_before_and_after() -> Tested {
    let diff = |before: Agent, after: &Agent| before.fingerprint().diff(after.fingerprint());
    let moved =
        |name: &str, from, to| ContractChange::Moved { kind: PartKind::BeforeModel, name: name.to_owned(), from, to };
    let after = built(&[], &["c", "a", "b"])?;
    let changes = diff(built(&[], &["a", "b", "c"])?, &after);
    assert_eq!(changes, [moved("c", 3, 1), moved("a", 1, 2), moved("b", 2, 3)]);
    assert_eq!(changes[0].to_string(), "the before_model hook `c` moved from place 3 to place 1");
    // What is new or gone moves nothing that stands behind it.
    let (kind, name) = (PartKind::BeforeModel, "new".to_owned());
    let changes = diff(built(&[], &["a", "b"])?, &built(&[], &["new", "a", "b"])?);
    assert_eq!(changes, [ContractChange::Added { kind, name: name.clone() }]);
    let changes = diff(built(&[], &["new", "a", "b"])?, &built(&[], &["a", "b"])?);
    assert_eq!(changes, [ContractChange::Removed { kind, name }]);
    assert_eq!(changes[0].kind(), Some(kind));
    assert!(diff(built(&["a", "b"], &["x"])?, &built(&["a", "b"], &["x"])?).is_empty());
    Ok(())
}

#[test]
fn d5_tools_in_another_order_are_the_same_tools() -> Tested {
    let changes = built(&["a", "b"], &[])?.fingerprint().diff(built(&["b", "a"], &[])?.fingerprint());
    assert!(!changes.iter().any(|change| matches!(change, ContractChange::Moved { .. })), "{changes:?}");
    Ok(())
}

#[before_model]
fn one(_: &mut ModelRequest<'_>) {}

#[before_model]
fn two(_: &mut ModelRequest<'_>) {}

#[test]
fn d6_the_fingerprint_of_a_list_prints_as_its_algorithm_and_its_digits() {
    const BOTH: ListFingerprint = hooks_fingerprint![one, two];
    const SWAPPED: ListFingerprint = hooks_fingerprint![two, one];
    let printed = BOTH.to_string();
    let digits = printed.strip_prefix("fp1-list:").unwrap_or_default();
    assert!(digits.len() == 32 && digits.chars().all(|digit| digit.is_ascii_hexdigit()), "{printed}");
    assert_eq!(format!("{BOTH:?}"), printed);
    assert_ne!(printed, SWAPPED.to_string());
}
