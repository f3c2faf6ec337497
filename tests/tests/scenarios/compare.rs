//! Whether what was seen is what is expected.

use serde_json::Value;

use crate::observed::Observed;
use crate::scenario::{Expectation, Expected, ExpectedError, Standing, Totals};
use crate::seen::SeenError;

/// What differs, each in a line; empty where nothing does.
pub(crate) fn differences(expected: &Expectation, observed: &[Observed], totals: &Totals) -> Vec<String> {
    let mut lines = Vec::new();
    if expected.commands.len() != observed.len() {
        lines.push(format!("{} commands are expected, {} were seen", expected.commands.len(), observed.len()));
    }
    for (index, (expected, observed)) in expected.commands.iter().zip(observed).enumerate() {
        let place = format!("command {} ({})", index + 1, expected.command);
        lines.extend(of_result(expected, observed).into_iter().map(|line| format!("{place}: {line}")));
        lines.extend(of_hooks(expected, observed).into_iter().map(|line| format!("{place}: {line}")));
    }
    lines.extend(of_fingerprints(expected, observed));
    if expected.commands.iter().all(|command| command.standing == Standing::All) {
        lines.extend(differ("tool executions", &expected.totals.tool_executions, &totals.tool_executions));
        lines.extend(differ("hook calls", &expected.totals.hook_calls, &totals.hook_calls));
        lines.extend(differ("model calls", &expected.totals.model_calls, &totals.model_calls));
    }
    lines
}

fn differ<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, seen: &T) -> Option<String> {
    (expected != seen).then(|| format!("{what}: expected {expected:?}, seen {seen:?}"))
}

fn of_result(expected: &Expected, observed: &Observed) -> Vec<String> {
    let (result, seen) = (&expected.result, &observed.seen);
    let mut lines = Vec::new();
    if let Some(state) = &result.task_state {
        lines.extend(differ("state", &Some(state.as_str()), &seen.state));
    }
    let fails = result.error.is_some() || matches!(result.task_state.as_deref(), Some("failed" | "canceled"));
    match (&result.error, &seen.error) {
        (Some(expected), None) => lines.push(format!("the error {} is expected, none was seen", expected.class)),
        (Some(expected), Some(seen)) if !is(expected, seen) => {
            lines.push(format!("the error {expected:?} is expected, {seen:?} was seen"));
        }
        (None, Some(seen)) if !fails && !matches!(expected.standing, Standing::Beginning | Standing::Nothing) => {
            lines.push(format!("an error that is not expected: {seen:?}"));
        }
        _ => {}
    }
    if let Some(interruption) = &result.interruption {
        let kind = interruption.get("kind").unwrap_or(interruption);
        let known = seen.interruption.is_some_and(|seen| kind.as_str().is_none_or(|kind| means(kind, seen)));
        if !known {
            lines.push(format!("the interruption {interruption} is expected, {:?} was seen", seen.interruption));
        }
    }
    if let Some(outputs) = &result.outputs {
        let equal = |seen: &[&Value]| outputs.len() == seen.len() && outputs.iter().zip(seen).all(|(a, b)| same(a, b));
        let answers: Vec<&Value> = seen.outputs.iter().collect();
        let all: Vec<&Value> = seen.exposed.iter().chain(&seen.outputs).collect();
        if !equal(&answers) && !equal(&all) {
            lines.push(format!("outputs: expected {outputs:?}, seen {:?}", seen.outputs));
        }
    }
    if let Some(shown) = &seen.shown {
        for recorded in result.others.values().filter_map(user_texts) {
            lines.extend(differ("what the user said", &Some(recorded), &user_texts(shown)));
        }
    }
    lines
}

/// What the user, or a hook in the user's name, said in a conversation that is a list of roles and contents.
fn user_texts(conversation: &Value) -> Option<Vec<&Value>> {
    let messages = conversation.as_array()?;
    let is_one = |message: &Value| message.get("role").is_some() && message.get("content").is_some();
    let users = messages.iter().filter(|message| message["role"] == "user").map(|message| &message["content"]);
    messages.iter().all(is_one).then(|| users.collect())
}

/// Whether an interruption of this name is of this kind.
fn means(name: &str, kind: &str) -> bool {
    let name = name.to_lowercase();
    match kind {
        "approval" => name.contains("approv"),
        "yield" => ["yield", "handoff", "slice"].iter().any(|word| name.contains(word)),
        _ => ["input", "question", "answer"].iter().any(|word| name.contains(word)),
    }
}

/// An answer is text here; one that is structured is the JSON of it.
fn same(expected: &Value, seen: &Value) -> bool {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    expected == seen || seen.as_str().and_then(parsed).is_some_and(|seen| *expected == seen)
}

/// Whether an error is the expected one: by the kind that a clause names, or by the class of the record and, for the
/// error of a hook, by its text.
pub(crate) fn is(expected: &ExpectedError, seen: &SeenError) -> bool {
    if let Some(kind) = expected.kind {
        return seen.kind == kind;
    }
    let text = seen.own.as_ref().is_none_or(|own| expected.message.contains(own.as_str()));
    text && seen.classes.contains(&expected.class)
}

fn of_hooks(expected: &Expected, observed: &Observed) -> Vec<String> {
    let fits = match expected.standing {
        Standing::All => expected.hooks == observed.hooks && expected.rosters == observed.rosters,
        Standing::Beginning => {
            observed.hooks.starts_with(&expected.hooks) && observed.rosters.starts_with(&expected.rosters)
        }
        Standing::UpToAnEnd => {
            expected.hooks.starts_with(&observed.hooks) && expected.rosters.starts_with(&observed.rosters)
        }
        Standing::Nothing => true,
    };
    let in_any_order = expected.command == "concurrent" && {
        let sorted = |list: &[String]| {
            let mut list = list.to_vec();
            list.sort();
            list
        };
        sorted(&expected.hooks) == sorted(&observed.hooks) && expected.rosters.len() == observed.rosters.len()
    };
    if fits || in_any_order {
        return Vec::new();
    }
    let hooks = differ("hooks", &expected.hooks, &observed.hooks);
    hooks.into_iter().chain(differ("rosters", &expected.rosters, &observed.rosters)).collect()
}

/// Two agents have one fingerprint exactly where they have one contract (contract D6).
fn of_fingerprints(expected: &Expectation, observed: &[Observed]) -> Vec<String> {
    let seen: Vec<_> = observed.iter().filter_map(|observed| observed.seen.fingerprint.as_ref()).collect();
    let mut lines = Vec::new();
    for (index, one) in seen.iter().enumerate() {
        for other in &seen[..index] {
            if (one.contract == other.contract) != (one.digest == other.digest) {
                lines.push(format!("fingerprints {} and {} of {one:?} and {other:?}", one.digest, other.digest));
            }
        }
    }
    let recorded: Vec<_> = expected.commands.iter().filter_map(|command| command.result.fingerprint.as_ref()).collect();
    let pattern = |same: &dyn Fn(usize, usize) -> bool, length: usize| -> Vec<bool> {
        (0..length).flat_map(|one| (0..one).map(move |other| (one, other))).map(|(a, b)| same(a, b)).collect()
    };
    let expected = pattern(&|a, b| recorded[a] == recorded[b], recorded.len());
    let seen = pattern(&|a, b| seen[a].digest == seen[b].digest, seen.len());
    lines.extend(differ("which fingerprints are the same", &expected, &seen));
    lines
}
