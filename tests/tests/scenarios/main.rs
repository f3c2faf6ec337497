//! Plays recorded scenarios, and says of each whether it went as expected.
//!
//! A scenario is data: tools, hooks as lists of operations, the model's replies, commands, and what another
//! implementation was recorded to do. Where the contract asks for something else, the contract wins:
//! [`deviations`] lists those scenarios. What Rust cannot express is `unwritable`, and counts as kept: the contract asked
//! for types that forbid it. What this interpreter does not know is `unsupported`, and fails.
//!
//! `PROTOLINK_SCENARIOS` names another file of the same format. Words after `--` choose scenarios by id or title.

mod bites;
mod build;
mod command;
mod compare;
mod deviations;
mod fields;
mod flat;
mod hook;
mod json_path;
mod leeway;
mod model;
mod not_here;
mod observed;
mod operation;
mod player;
mod policy;
mod process;
mod rules;
mod scenario;
mod seen;
mod setup;
mod special;
mod stored;
mod verdict;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Value;

use scenario::Scenario;
use verdict::Verdict;

/// The environment variable that names another file.
const FILE: &str = "PROTOLINK_SCENARIOS";

/// The name under which runners of tests know them all.
const WHOLE: &str = "scenarios";

/// The project's own scenarios.
const OWN: &str = include_str!("../../cases/scenarios.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenarios {
    #[serde(rename = "format")]
    _format: Option<Value>,
    scenarios: Vec<Value>,
}

fn main() -> ExitCode {
    if process::is_one() {
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--list") {
        // Nothing is ignored; all of them are one test.
        if !words.iter().any(|word| word == "--ignored") {
            println!("{WHOLE}: test");
        }
        return ExitCode::SUCCESS;
    }
    match all(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Plays them all; says whether none failed.
fn all(words: &[String]) -> Result<bool, Box<dyn std::error::Error>> {
    let made_up = bites::check()?;
    println!("the interpreter says what it must of {made_up} made-up scenarios");
    let own: Scenarios = serde_json::from_str(OWN)?;
    let own: Vec<Scenario> = own.scenarios.iter().map(Scenario::deserialize).collect::<Result<_, _>>()?;
    let text = match std::env::var_os(FILE) {
        None => OWN.to_owned(),
        Some(file) => {
            let read = std::fs::read_to_string(place_of(Path::new(&file)));
            read.map_err(|error| format!("{}: {error}", file.display()))?
        }
    };
    let scenarios: Scenarios = serde_json::from_str(&text)?;
    let (mut passed, mut kept, mut failed) = (0, 0, 0);
    for value in &scenarios.scenarios {
        let name = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or("?");
        if !is_chosen(words, name("id"), name("title")) {
            continue;
        }
        let verdict = match Scenario::deserialize(value) {
            Ok(scenario) => verdict::of(&scenario, &own),
            Err(error) => Verdict::Failed(vec![format!("unsupported: {error}")]),
        };
        match &verdict {
            Verdict::Passed(_) => passed += 1,
            Verdict::Kept(_) => kept += 1,
            Verdict::Failed(_) => failed += 1,
        }
        println!("{} {}: {}", name("id"), name("title"), verdict);
    }
    println!("{} passed ({kept} of them unwritable, kept by the types), {failed} failed", passed + kept);
    Ok(failed == 0)
}

/// Cargo runs tests in their package's folder; whoever names a file may be at the root of the workspace.
fn place_of(file: &Path) -> PathBuf {
    let from_root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    if !file.exists() && from_root.exists() { from_root } else { file.to_owned() }
}

fn is_chosen(words: &[String], id: &str, title: &str) -> bool {
    // Options are for the usual test harness, `--nocapture` and the like.
    let mut words = words.iter().filter(|word| !word.starts_with('-') && *word != WHOLE).peekable();
    words.peek().is_none() || words.any(|word| id == word || title.contains(word.as_str()))
}
