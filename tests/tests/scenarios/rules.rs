//! Where the contract asks for something else than was recorded, as rules for scenarios that nobody has listed.
//!
//! A rule that must hold changes the expectation before anything is compared. Any other is looked at where the record
//! does not hold, and says which part of it a clause leaves standing.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::command::Command;
use crate::compare::differences;
use crate::deviations::contract_changed;
use crate::not_here::NotHere;
use crate::observed::Observed;
use crate::operation::Operation;
use crate::scenario::{Expectation, Expected, ExpectedError, ExpectedResult, Scenario, Standing, Totals};
use crate::setup::{ModelEntry, STAGES, Setup, ToolDoes};

/// What a rule says, for the line of the scenario.
pub(crate) type Reason = (&'static str, &'static str);

/// Applies the rules that must hold.
pub(crate) fn must(scenario: &Scenario) -> Result<(Expectation, Vec<Reason>), NotHere> {
    let setup = Setup::read(&scenario.written())?;
    let commands = scenario.commands()?;
    let mut expected = scenario.expect.clone();
    let mut reasons = Vec::new();
    for (index, command) in expected.commands.iter_mut().enumerate() {
        let in_loop = !matches!(commands.get(index), Some(Command::CallTool { .. }) | None)
            && !matches!(commands.get(index), Some(Command::Invoke(invocation)) if invocation.tool.is_some());
        let error = command.result.error.clone();
        let class = error.as_ref().map_or("", |error| error.class.as_str());
        if command.result.task_state.as_deref() == Some("canceled") && raises(&setup, class) {
            command.result.task_state = Some("failed".to_owned());
            reasons.push(("S5", "a hook's error fails the run, whatever its class"));
        }
        if class == "ActionDeniedError" && in_loop && !raises(&setup, class) {
            command.result = ExpectedResult::default();
            command.standing = Standing::Beginning;
            reasons.push(("P1", "a denied call is a correction, and the run goes on"));
        }
        if error.as_ref().is_some_and(|error| error.message.contains("max_output_tokens")) {
            command.standing = Standing::UpToAnEnd;
            reasons.push(("P2", "tokens are checked before the request, on the request as it will be sent"));
        }
        if error.is_some_and(|error| error.message.contains("max_llm_calls"))
            && !matches!(
                command.rosters.len().checked_sub(1).and_then(|last| setup.model.get(last)),
                Some(ModelEntry::Transient(_))
            )
        {
            let last = command.hooks.last().and_then(|hook| hook.rsplit_once('@')).map(|(_, step)| format!("@{step}"));
            if let Some(step) = last {
                command.hooks.retain(|hook| !(hook.starts_with("before_model") && hook.ends_with(&step)));
                reasons.push(("P2", "a budget that is used up is seen before the hooks of the step"));
            }
        }
    }
    after_yields(&setup, &commands, &mut expected, &mut reasons);
    unkept(&setup, &commands, &mut expected, &mut reasons);
    contracts(scenario, &commands, &mut expected, &mut reasons)?;
    if !reasons.is_empty() {
        expected.count();
    }
    Ok((expected, reasons))
}

/// A run that stops between two steps goes on from its last commit, which is the receipt of the last call: what hooks
/// made of it is made again (contract D2).
fn after_yields(setup: &Setup, commands: &[Command], expected: &mut Expectation, reasons: &mut Vec<Reason>) {
    if setup.yield_after_steps.is_none() {
        return;
    }
    let mut last: Vec<String> = Vec::new();
    for (command, played) in expected.commands.iter_mut().zip(commands) {
        let trailing = |hooks: &[String]| -> Vec<String> {
            let from = hooks.iter().rposition(|hook| !hook.starts_with("after_tool")).map_or(0, |at| at + 1);
            hooks[from..].to_vec()
        };
        let next = trailing(&command.hooks);
        if matches!(played, Command::Resume { .. }) && !last.is_empty() {
            command.hooks.splice(0..0, last);
            reasons.push(("D2", "a resume repeats preparation from the last commit"));
        }
        last = next;
    }
}

/// Whether a hook raises an error of this class.
fn raises(setup: &Setup, class: &str) -> bool {
    any_operation(setup, &|operation| matches!(operation, Operation::Raise { error, .. } if error == class))
}

fn any_operation(setup: &Setup, is_one: &dyn Fn(&Operation) -> bool) -> bool {
    setup.hooks.iter().any(|hook| {
        STAGES.iter().filter_map(|stage| hook.operations_at(*stage)).any(|list| Operation::any(list, is_one))
    })
}

/// What cannot be kept exactly is refused (contract T7): a run that meets it ends there.
fn unkept(setup: &Setup, commands: &[Command], expected: &mut Expectation, reasons: &mut Vec<Reason>) {
    let by_hook = any_operation(setup, &|operation| match operation {
        Operation::SetResultSpecial(special) | Operation::SetContentSpecial(special) => !special.is_kept(),
        _ => false,
    });
    let by_tool = setup.tools.iter().any(|tool| matches!(tool.does, ToolDoes::ReturnSpecial(it) if !it.is_kept()));
    if !by_hook && !by_tool {
        return;
    }
    let kind = if by_hook { "HookValue" } else { "ToolValue" };
    for (command, played) in expected.commands.iter_mut().zip(commands) {
        match played {
            Command::Invoke(_) | Command::Stream(_) | Command::RunHandle(_) if command.result.task_state.is_some() => {
                let class = "ValueError".to_owned();
                let error = ExpectedError { class, message: String::new(), kind: Some(kind) };
                let task_state = Some("failed".to_owned());
                command.result = ExpectedResult { error: Some(error), task_state, ..ExpectedResult::default() };
                command.standing = Standing::UpToAnEnd;
            }
            _ => {
                command.result = ExpectedResult::default();
                command.standing = Standing::Nothing;
            }
        }
    }
    reasons.push(("T7", "a value that cannot be kept exactly is a typed error"));
}

/// A resume is refused exactly where the agent's contract is not the one that the run was started with (contract D5, D6).
fn contracts(
    scenario: &Scenario,
    commands: &[Command],
    expected: &mut Expectation,
    reasons: &mut Vec<Reason>,
) -> Result<(), NotHere> {
    let mut written = scenario.written();
    let mut started = None;
    for (index, command) in commands.iter().enumerate() {
        match command {
            Command::Invoke(_) | Command::Stream(_) | Command::RunHandle(_) => started = Some(written.contract()?),
            Command::Rebuild { changes } => written = written.with(changes),
            Command::Fingerprint => {
                if let Some(expected) = expected.commands.get_mut(index) {
                    // The pattern of equal and different fingerprints is the contract's.
                    expected.result.fingerprint = Some(written.contract()?.to_string());
                }
            }
            Command::Resume { .. } => {
                let Some(expected) = expected.commands.get_mut(index) else { continue };
                let refused = expected.result.error.as_ref().is_some_and(|it| it.class == "CheckpointMismatchError");
                let changed = started.as_ref().is_some_and(|contract| written.contract().as_ref() != Ok(contract));
                if changed && !refused && expected.result.task_state.as_deref() != Some("failed") {
                    expected.result = ExpectedResult { error: Some(contract_changed()), ..ExpectedResult::default() };
                    expected.standing = Standing::UpToAnEnd;
                    reasons.push(("D6", "what changed is part of the contract, and the resume is refused"));
                } else if refused && !changed {
                    expected.result = ExpectedResult::default();
                    expected.standing = Standing::Beginning;
                    reasons.push(("D6", "what changed is not part of the contract, and the resume goes on"));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

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
