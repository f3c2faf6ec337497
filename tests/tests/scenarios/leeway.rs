//! Where the record does not hold, and a clause of the contract says why.
//!
//! Each reason says which part of the record it leaves standing; what stands is compared as ever.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::compare::differences;
use crate::not_here::NotHere;
use crate::observed::Observed;
use crate::operation::Operation;
use crate::rules::{Reason, any_operation};
use crate::scenario::{Expectation, Expected, ExpectedResult, Scenario, Standing, Totals};
use crate::setup::{ModelEntry, Setup, ToolDoes};

/// Looks for a clause by which what was seen is right although it is not what was recorded.
pub(crate) fn may(
    scenario: &Scenario,
    expected: &Expectation,
    observed: &[Observed],
    totals: &Totals,
) -> Result<Option<Reason>, NotHere> {
    let setup = Setup::read(&scenario.written())?;
    for (reason, change) in candidates(&setup, expected, observed, totals) {
        let mut changed = expected.clone();
        change(&mut changed, observed);
        if differences(&changed, observed, totals).is_empty() {
            return Ok(Some(reason));
        }
    }
    Ok(None)
}

type Change = fn(&mut Expectation, &[Observed]);

fn candidates(setup: &Setup, expected: &Expectation, observed: &[Observed], totals: &Totals) -> Vec<(Reason, Change)> {
    let mut found: Vec<(Reason, Change)> = Vec::new();
    let failed_with = |kind: &str| {
        observed.iter().any(|observed| observed.seen.error.as_ref().is_some_and(|error| error.kind == kind))
    };
    if failed_with("EmptyRequest") {
        found.push((("M14", "nothing is sent without a user message"), ends_at_the_error));
    }
    if failed_with("BuildError") {
        found.push((("P4", "an agent is not restored without its hooks"), ends_at_the_error));
    }
    if repeats_a_call(setup) && more_effects(expected, totals) {
        found.push((("P1", "a call that the policy allows runs, also when the model repeats it"), goes_another_way));
    }
    if failed_with("Truncated") {
        found.push((("F5", "a reply that was cut off is no answer and no call"), ends_at_the_error));
    }
    if setup.model.iter().any(is_unusual) {
        found.push((("F1", "a reply that calls nothing is a proposed answer, whatever it says"), answers_at_once));
    }
    if setup.tools.iter().any(|tool| matches!(tool.does, ToolDoes::Raise(_))) {
        found.push((
            ("D2", "a failure is on record: the model is told, and no tool runs again"),
            goes_on_after_a_failure,
        ));
    }
    if expected.commands.iter().any(refuses_a_failed_run) {
        found.push((("D9", "a failed run stays resumable from its receipts"), goes_on_after_a_failure));
    }
    if expected.commands.iter().any(comes_too_late) {
        found.push((
            ("F3", "a run that ended gives its answer, and a word that comes too late changes nothing"),
            has_ended,
        ));
    }
    if kills(setup) && steps_go_on(observed) && !more_effects(expected, totals) {
        found.push((("D10", "a crash burns no step number, and repeats no effect"), goes_another_way));
    }
    found
}

/// Whether the model asks for the same call twice.
fn repeats_a_call(setup: &Setup) -> bool {
    let mut calls = BTreeSet::new();
    setup.model.iter().any(|entry| match entry {
        ModelEntry::Call { tool, arguments } => !calls.insert((tool.clone(), arguments.to_string())),
        _ => false,
    })
}

fn more_effects(expected: &Expectation, totals: &Totals) -> bool {
    let recorded = |tool: &str| expected.totals.tool_executions.get(tool).copied().unwrap_or(0);
    totals.tool_executions.iter().any(|(tool, times)| *times > recorded(tool))
}

/// Whether the process is killed somewhere.
fn kills(setup: &Setup) -> bool {
    any_operation(setup, &|operation| *operation == Operation::Kill)
        || setup.tools.iter().any(|tool| matches!(tool.does, ToolDoes::Kill))
        || setup.model.iter().any(|entry| matches!(entry, ModelEntry::Kill))
}

/// Whether the steps of `before_model` go up by one over all of them.
fn steps_go_on(observed: &[Observed]) -> bool {
    let hooks = observed.iter().flat_map(|observed| &observed.hooks);
    let steps = hooks.filter(|hook| hook.starts_with("before_model")).filter_map(|hook| hook.rsplit_once('@'));
    let mut last = 0;
    for step in steps.filter_map(|(_, step)| step.parse::<u32>().ok()) {
        if step > last + 1 {
            return false;
        }
        last = last.max(step);
    }
    last > 0
}

fn ends_at_the_error(expected: &mut Expectation, observed: &[Observed]) {
    let mut ended = false;
    for (command, observed) in expected.commands.iter_mut().zip(observed) {
        if ended || observed.seen.error.is_some() {
            command.result = ExpectedResult::default();
            command.standing = if ended { Standing::Nothing } else { Standing::UpToAnEnd };
            if !ended {
                command.result.task_state = observed.seen.state.map(str::to_owned);
                command.standing = Standing::UpToAnEnd;
            }
            ended = true;
        }
    }
    for command in &mut expected.commands {
        if command.standing == Standing::UpToAnEnd && command.result.task_state.is_none() {
            command.standing = Standing::Nothing;
        }
    }
}

/// Whether the recorded implementation may take the entry for no reply at all.
fn is_unusual(entry: &ModelEntry) -> bool {
    match entry {
        ModelEntry::Raw(_) => true,
        ModelEntry::Final(Value::String(text)) => text.trim().is_empty(),
        ModelEntry::Final(content) => !content.is_object(),
        _ => false,
    }
}

/// It ends at the first reply that is not a call: with that answer, or with the check that refuses it.
fn answers_at_once(expected: &mut Expectation, observed: &[Observed]) {
    for (command, observed) in expected.commands.iter_mut().zip(observed) {
        let checked =
            observed.seen.error.as_ref().is_none_or(|error| error.kind == "Hook" || error.kind == "HookValue");
        let shorter = observed.rosters.len() <= command.rosters.len();
        if command.hooks != observed.hooks && checked && shorter {
            command.result = ExpectedResult::default();
            command.result.task_state = observed.seen.state.map(str::to_owned);
            command.standing = Standing::Nothing;
        }
    }
}

fn goes_another_way(expected: &mut Expectation, observed: &[Observed]) {
    for (command, observed) in expected.commands.iter_mut().zip(observed) {
        if command.hooks != observed.hooks || command.rosters != observed.rosters {
            command.standing = Standing::Nothing;
            if command.result.error.is_none() {
                // An end that both have is the same one.
                command.result.outputs = command.result.outputs.take().filter(|_| observed.seen.error.is_none());
            } else {
                command.result = ExpectedResult::default();
            }
        }
    }
    if expected.commands.iter().all(|command| command.standing == Standing::All)
        && let Some(last) = expected.commands.last_mut()
    {
        last.standing = Standing::Nothing;
    }
}

/// Whether the recorded implementation takes a failed run for lost.
fn refuses_a_failed_run(command: &Expected) -> bool {
    command.command == "resume"
        && command
            .result
            .error
            .as_ref()
            .is_some_and(|error| error.class == "UncertainExecutionError" || error.message.contains("failed run"))
}

/// Whether a decision is given to a run that has its answer.
fn comes_too_late(command: &Expected) -> bool {
    command.command == "resume"
        && command.result.error.as_ref().is_some_and(|error| {
            error.class == "DurableExecutionError"
                && ["already complete", "no pending"].iter().any(|text| error.message.contains(text))
        })
}

fn has_ended(expected: &mut Expectation, _: &[Observed]) {
    for command in expected.commands.iter_mut().filter(|command| comes_too_late(command)) {
        command.result = ExpectedResult { task_state: Some("completed".to_owned()), ..ExpectedResult::default() };
    }
}

fn goes_on_after_a_failure(expected: &mut Expectation, _: &[Observed]) {
    let mut goes_on = false;
    for command in &mut expected.commands {
        if refuses_a_failed_run(command) || goes_on {
            command.result = ExpectedResult::default();
            command.standing = if goes_on { Standing::Nothing } else { Standing::Beginning };
            goes_on = true;
        }
    }
}
