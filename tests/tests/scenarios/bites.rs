//! Shows that the interpreter bites: made-up scenarios of which it is known what must be said.

use serde::Deserialize;

use crate::scenario::Scenario;
use crate::verdict;

const MADE_UP: &str = include_str!("../../cases/interpreter.json");

/// A scenario, and the word that must be said of it: `passed`, `unwritable`, `unsupported` or `FAILED`.
#[derive(Deserialize)]
struct MadeUp {
    says: String,
    scenario: Scenario,
}

/// How many scenarios there are of which the right thing is said.
///
/// # Errors
/// What is said instead of one of them.
pub(crate) fn check() -> Result<usize, Box<dyn std::error::Error>> {
    let made_up: Vec<MadeUp> = serde_json::from_str(MADE_UP)?;
    for MadeUp { says, scenario } in &made_up {
        let said = verdict::of(scenario, &[]).to_string();
        let word = if said.contains("unsupported: ") {
            "unsupported"
        } else {
            said.split([':', ' ', '\n']).next().unwrap_or_default()
        };
        if word != says {
            return Err(format!("of the made-up scenario {}, {says} must be said, and was: {said}", scenario.id).into());
        }
    }
    Ok(made_up.len())
}
