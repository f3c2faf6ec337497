//! Where the contract asks for something else than was recorded, as rules for scenarios that nobody has listed.
//!
//! These must hold, and change the expectation before anything is compared; [`leeway`](crate::leeway) has those that may.

use crate::command::Command;
use crate::deviations::contract_changed;
use crate::not_here::NotHere;
use crate::operation::Operation;
use crate::scenario::{Expectation, ExpectedError, ExpectedResult, Scenario, Standing};
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

pub(crate) fn any_operation(setup: &Setup, is_one: &dyn Fn(&Operation) -> bool) -> bool {
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
