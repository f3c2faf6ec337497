//! The policy of a scenario: its own rules and the permissions of a run, the stricter word of both.

use std::collections::BTreeMap;

use protolink::rules::{Decision, Policy, PolicyRequest};
use serde_json::Value;

/// The key under which a run's permissions are given to it.
pub(crate) const PERMISSIONS: &str = "permissions";

/// Decides by capability; what nobody named is allowed.
#[derive(Debug, Default)]
pub(crate) struct ScenarioPolicy(pub(crate) BTreeMap<String, Value>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Allow,
    RequireApproval,
    Deny,
}

fn word(value: &Value) -> Word {
    match value {
        Value::Bool(false) => Word::Deny,
        Value::String(text) if text == "require_approval" => Word::RequireApproval,
        Value::String(text) if text == "deny" => Word::Deny,
        Value::Object(fields) => fields.get("effect").map_or(Word::Allow, word),
        _ => Word::Allow,
    }
}

/// The word on a capability: by its own name, or by the longest `name.*` that covers it.
fn word_on<'r>(rules: impl Iterator<Item = (&'r String, &'r Value)>, capability: &str) -> Option<Word> {
    let covers =
        |rule: &str| rule == capability || rule.strip_suffix('*').is_some_and(|prefix| capability.starts_with(prefix));
    let best = rules.filter(|(rule, _)| covers(rule)).max_by_key(|(rule, _)| (*rule == capability, rule.len()));
    best.map(|(_, value)| word(value))
}

impl Policy for ScenarioPolicy {
    fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
        let run = request.context.get(PERMISSIONS).and_then(Value::as_object);
        let words = request.tool.capabilities().iter().map(|capability| {
            let own = word_on(self.0.iter(), capability).unwrap_or(Word::Allow);
            let of_run = run.and_then(|rules| word_on(rules.iter(), capability)).unwrap_or(Word::Allow);
            own.max(of_run)
        });
        match words.max() {
            None | Some(Word::Allow) => Decision::Allow,
            Some(Word::RequireApproval) => Decision::RequireApproval,
            Some(Word::Deny) => Decision::Deny { reason: "a capability of the tool is denied".to_owned() },
        }
    }
}
